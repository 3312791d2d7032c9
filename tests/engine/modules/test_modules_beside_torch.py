"""Every engine module gives PyTorch's outputs and gradients to 1e-9 in float64."""

import numpy as np
import pytest

from chainrule.engine import Tensor, scatter
from chainrule.recipe.registry import find, names

torch = pytest.importorskip("torch")
from torch_equivalents import EQUIVALENTS  # noqa: E402  (it needs torch)


def listed(y):
    return list(y) if isinstance(y, tuple) else [y]


def close(ours, theirs, what):
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("name", names("engine/modules"))
def test_outputs_and_gradients_are_those_of_torch(name):
    random = np.random.default_rng(11)
    module, inputs = find("engine/modules", name).example(random)
    module.to(np.float64)
    for parameter in module.parameters():
        parameter.value = parameter.value + random.normal(0, 0.1, parameter.shape)
    leaves = [Tensor(each) for each in inputs]
    theirs = [torch.tensor(each, requires_grad=each.dtype.kind == "f") for each in inputs]
    own = {key: torch.tensor(each.value, requires_grad=True) for key, each in module.named_parameters().items()}

    outputs = listed(module(*leaves))
    expected = listed(EQUIVALENTS[name](module, own, *theirs))
    assert len(outputs) == len(expected)
    shares = [random.normal(size=each.shape) for each in outputs]
    for place, (y, their_y) in enumerate(zip(outputs, expected, strict=True)):
        close(y.value, their_y, f"output {place}")

    found = scatter(sum((y * share).sum() for y, share in zip(outputs, shares, strict=True)))
    sum((y * torch.tensor(share)).sum() for y, share in zip(expected, shares, strict=True)).backward()
    for leaf, their_leaf in zip(leaves, theirs, strict=True):
        if leaf.wants:
            close(found[leaf], their_leaf.grad, "an input's gradient")
    for key, parameter in module.named_parameters().items():
        close(found[parameter], own[key].grad, key)


def test_every_module_is_compared():
    assert set(EQUIVALENTS) == set(names("engine/modules"))


def test_a_class_that_is_ruled_out_on_both_sides_costs_nothing():
    """A score of −∞, a target of 0: torch's xlogy, and torch's gradients without that class."""
    random = np.random.default_rng(3)
    x, t = random.normal(size=(4, 5)), np.insert(random.dirichlet(np.ones(4), size=4), 2, 0.0, axis=1)
    x[:, 2] = -np.inf
    rest = [0, 1, 3, 4]
    kept = torch.tensor(x[:, rest], requires_grad=True)
    torch.nn.functional.cross_entropy(kept, torch.tensor(t[:, rest])).backward()
    target = torch.tensor(t, requires_grad=True)
    by_torch = -torch.xlogy(target, torch.tensor(x).softmax(-1)).sum() / 4
    by_torch.backward()
    scores, soft = Tensor(x), Tensor(t)
    for loss in (find("engine/modules", "softmax_cross_entropy")()(scores, soft),
                 find("engine/modules", "cross_entropy")()(find("engine/modules", "softmax")()(scores), soft)):
        found = scatter(loss)
        assert loss.item() == pytest.approx(by_torch.item(), rel=1e-12)
        np.testing.assert_allclose(found[scores][:, rest], kept.grad.numpy(), atol=1e-14)
        np.testing.assert_array_equal(found[scores][:, 2], 0)
        np.testing.assert_allclose(found[soft], target.grad.numpy(), atol=1e-14)


@pytest.mark.parametrize(("x", "target", "expected"), [
    ([[0.0, -np.inf]], [[0.5, 0.5]], np.inf), ([[0.0, np.nan]], [[1.0, 0.0]], np.nan)])
def test_impossible_targets_and_nan_give_infinite_or_nan_loss(x, target, expected):
    loss = find("engine/modules", "softmax_cross_entropy")()(np.array(x), np.array(target))
    np.testing.assert_equal(loss.item(), expected)
