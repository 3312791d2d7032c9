"""Contract: every engine module's backward agrees with central differences, and with PyTorch in both directions."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chainrule.engine import Composite, Tensor, gradcheck, scatter
from chainrule.recipe.registry import find, names

MODULES = names("engine/modules")


def example(name):
    return find("engine/modules", name).example(np.random.default_rng(7))


@pytest.mark.parametrize("name", MODULES)
def test_backward_matches_finite_differences(name):
    """Every engine module, present or future, gets this for free."""
    module, inputs = example(name)
    for parameter in module.parameters():  # off 0 and 1, where much is right by chance
        parameter.value = parameter.value + np.random.default_rng(3).normal(0, 0.1, parameter.shape)
    checked = gradcheck(module, inputs)
    assert checked.error < 1e-7 and checked.entries > 0


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_outputs_and_gradients_have_the_type_of_the_numbers_that_went_in(name, kind):
    module, inputs = example(name)
    module.to(kind)
    leaves = [Tensor(each.astype(kind) if each.dtype.kind == "f" else each) for each in inputs]
    y = module(*leaves)
    outputs = y if isinstance(y, tuple) else (y,)
    loss = sum((each * each).sum() for each in outputs)
    assert {each.value.dtype for each in (*outputs, loss)} == {np.dtype(kind)}
    found = scatter(loss)
    for leaf in (*leaves, *module.parameters()):
        if leaf.wants:
            assert found[leaf].dtype == kind and found[leaf].shape == leaf.shape
    reached = {id(each) for each in found}
    assert all(id(parameter) in reached for parameter in module.parameters())


@pytest.mark.parametrize("name", MODULES)
def test_inputs_and_parameters_are_left_as_they_are(name):
    module, inputs = example(name)
    leaves = [Tensor(each) for each in inputs]
    watched = [*leaves, *module.parameters()]
    before = [each.value.copy() for each in watched]
    y = module(*leaves)
    outputs = y if isinstance(y, tuple) else (y,)
    loss = sum((each * each).sum() for each in outputs)
    values = [each.value.copy() for each in outputs]
    first, second = scatter(loss), scatter(loss)
    for each, value in zip((*watched, *outputs), (*before, *values), strict=True):
        np.testing.assert_array_equal(each.value, value)
    for each in first:  # a backward pass changes nothing that a second one needs
        if not isinstance(first[each], dict):
            np.testing.assert_array_equal(first[each], second[each])


@pytest.mark.parametrize("name", MODULES)
def test_one_module_serves_many_threads(name):
    """Nothing of one call is kept where another would find it."""
    module = example(name)[0].to(np.float64).train(False)
    given = [find("engine/modules", name).example(np.random.default_rng(seed))[1] for seed in range(4)]

    def gradients(inputs):
        leaves = [Tensor(each) for each in inputs]
        y = module(*leaves)
        found = scatter(sum((each * each).sum() for each in (y if isinstance(y, tuple) else (y,))))
        return [found[leaf] for leaf in (*leaves, *module.parameters()) if leaf.wants]

    alone = [gradients(inputs) for inputs in given]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(gradients, given * 5))
    for number, found in enumerate(together):
        for mine, expected in zip(found, alone[number % 4], strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-15)
    assert all(parameter.grad is None for parameter in module.parameters())


@pytest.mark.parametrize("name", MODULES)
def test_the_docstring_has_both_directions(name):
    module = find("engine/modules", name)
    text = inspect.getdoc(module)
    assert "=" in text
    assert "backward" in text or "gradient" in text or " d" in text, "say what the gradient is"
    if not issubclass(module, Composite):
        assert module.forward.__module__ == module.backward.__module__, "forward and backward stand side by side"
