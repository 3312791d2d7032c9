"""The graph is what control flow makes it, gradients add up, and nothing leaks between threads or past an exception."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chainrule.engine import Composite, Module, Parameter, Tensor, gather, graph, scatter, untaped
from chainrule.engine.differentiation import recorded
from chainrule.engine.modules.bias import Bias
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.lstm_cell import LSTMCell
from chainrule.engine.modules.sigmoid import Sigmoid
from chainrule.engine.modules.transformer_block import TransformerBlock
from chainrule.errors import UsageError


def equal(one, other):
    """Both algorithms reach the same tensors with the same gradients."""
    assert set(one) == set(other)
    for tensor, gradient in one.items():
        if isinstance(gradient, dict):
            assert all(np.allclose(gradient[place], other[tensor][place], rtol=1e-12) for place in gradient)
        else:
            np.testing.assert_allclose(gradient, other[tensor], rtol=1e-12, atol=1e-15)


def test_a_value_used_twice_gets_both_gradients():
    x = Tensor(3.0)
    (x * x + x).backward()
    assert x.grad == 7.0
    (x * 2).backward()
    assert x.grad == 9.0, "a second pass adds to the first"


def test_scalars_are_arrays_without_axes():
    x, y, z = Tensor(-2.0, name="x"), Tensor(5.0), Tensor(-4.0)
    f = (x + y) * z
    f.backward()
    assert f.shape == () and f.item() == -12 and (x.grad, y.grad, z.grad) == (-4, -4, 3)
    assert isinstance(x.grad, np.ndarray | np.floating)


def test_the_graph_is_what_control_flow_makes_it():
    def halved(x):
        steps = 0
        while x.item() > 1:
            x, steps = x * 0.5, steps + 1
        return x, steps

    for start in (3.0, 100.0):
        x = Tensor(start)
        y, steps = halved(x)
        y.backward()
        assert x.grad == 0.5**steps and len(recorded(y)) == steps


@pytest.mark.parametrize("make", [
    lambda x, y: (x * y + x.exp() / (y * y + 1)).sum(),
    lambda x, y: ((x + y) @ (x - y).transpose(1, 0)).mean() ** 2 + x[1].sum(),
    lambda x, y: (Linear(3, 3, random=np.random.default_rng(0))(x) * x).sum(),
    lambda x, y: sum((each * each).sum() for each in LSTMCell(3, 3, random=np.random.default_rng(0))(x, y, x)),
    lambda x, y: LSTMCell(3, 3, random=np.random.default_rng(0))(x, y, x)[1].sum(),
    lambda x, y: (TransformerBlock(6, heads=2, random=np.random.default_rng(0))((x * y).reshape(1, 1, 6)) ** 2).sum(),
])
def test_gather_and_scatter_agree(make):
    random = np.random.default_rng(1)
    loss = make(Tensor(random.normal(size=(2, 3))), Tensor(random.normal(size=(2, 3))))
    equal(scatter(loss), gather(loss))


def test_random_graphs_have_the_same_gradients_by_both_algorithms():
    random = np.random.default_rng(2)
    for _ in range(30):
        values = [Tensor(random.normal(size=shape)) for shape in ((2, 3), (3,), (2, 1), ())]
        for _ in range(12):
            a, b = (values[n] for n in random.integers(len(values), size=2))
            values.append([lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: (a * 0.1).exp()][
                random.integers(4)](a, b))
        loss = values[-1].sum() + values[-2].mean()
        equal(scatter(loss), gather(loss))


@pytest.mark.parametrize(("one", "other"), [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((1,), (2, 3)),
                                            ((0, 3), (3,))])
def test_a_broadcast_value_gets_the_sum(one, other):
    a, b = Tensor(np.full(one, 2.0)), Tensor(np.full(other, 3.0))
    (a * b).sum().backward()
    whole = np.broadcast_shapes(one, other)
    assert a.grad.shape == one and b.grad.shape == other
    np.testing.assert_allclose(a.grad.sum(), 3 * np.prod(whole))
    np.testing.assert_allclose(b.grad.sum(), 2 * np.prod(whole))


def test_an_array_is_a_constant_and_a_tensor_is_not():
    x = np.ones((2, 3), np.float32)
    layer = Linear(3, 2)
    loss = layer(x).sum()
    loss.backward()
    assert layer.weight.grad.shape == (2, 3)
    y = x * Tensor(np.float32(2.0))
    assert isinstance(y, Tensor) and y.value.dtype == np.float32 and (2 * y).value.dtype == np.float32
    for left in (x, np.float32(2.0), 2.0, 2):
        for made in (left + y, left - y, left * y, left / y, (left + y) ** 2):
            assert isinstance(made, Tensor) and made.shape == (2, 3) and made.value.dtype == np.float32


def test_gradients_that_are_not_needed_are_not_computed():
    calls = []

    class Told(Module):
        def forward(self, x):
            return x * 2, None

        def backward(self, dy, memory):
            return lambda: calls.append("x") or dy * 2

    weight = Tensor(1.0)
    (Told()(np.float64(3.0)) * weight).backward()
    assert not calls and weight.grad == 6
    (Told()(Tensor(3.0)) * weight).backward()
    assert calls == ["x"]


def test_untaped_builds_no_graph_and_ends_with_an_exception():
    x = Tensor(2.0)
    with pytest.raises(ZeroDivisionError), untaped():
        assert not (x * x).inputs
        raise ZeroDivisionError
    assert (x * x).inputs


def test_a_thread_that_failed_builds_graphs_again():
    x = Tensor(2.0)

    def fails():
        with untaped():
            x * x
            raise ZeroDivisionError

    with ThreadPoolExecutor(1) as one:
        assert isinstance(one.submit(fails).exception(), ZeroDivisionError)
        assert one.submit(lambda: (x * x).inputs).result() == (x, x)


def test_a_forward_pass_that_fails_leaves_nothing_behind():
    class Broken(Module):
        def forward(self, x):
            raise ValueError("broken")

    x = Tensor(3.0)
    middle = x * x
    with pytest.raises(ValueError, match="broken"):
        Broken()(middle)
    (middle + x).backward()
    assert x.grad == 7 and len(recorded(middle)) == 1


def test_threads_do_not_see_each_other():
    layer, found, failures = Linear(5, 5, random=np.random.default_rng(0)), {}, []

    def work(number):
        try:
            for _ in range(50):
                x = Tensor(np.full((2, 5), float(number)))
                if number % 2:
                    with untaped():
                        assert not layer(x).inputs
                loss = (layer(x) * x).sum()
                found[number] = scatter(loss)[x]
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures and layer.weight.grad is None
    for number in range(4):
        x = Tensor(np.full((2, 5), float(number)))
        np.testing.assert_array_equal(found[number], scatter((layer(x) * x).sum())[x])


def test_a_backward_pass_that_fails_changes_no_gradient():
    class Broken(Module):
        def forward(self, x):
            return x, None

        def backward(self, dy, memory):
            raise ValueError("broken")

    x, y = Tensor(1.0), Tensor(2.0)
    with pytest.raises(ValueError, match="broken"):
        (Broken()(x) * y).backward()
    assert x.grad is None and y.grad is None
    (x * y).backward()
    assert (x.grad, y.grad) == (2, 1)


def test_a_graph_is_forgotten_with_its_last_tensor_without_a_garbage_collector():
    gc.disable()
    try:
        x = Tensor(np.ones(3))
        middle = x * 2
        gone = weakref.ref(middle)
        loss = middle.sum()
        loss.backward()
        del middle, loss
        assert gone() is None
    finally:
        gc.enable()


def test_parameters_are_named_by_the_way_to_them_and_shared_ones_once():
    class Model(Composite):
        def __init__(self):
            self.layers = [Linear(2, 2), Linear(2, 2, bias=False)]
            self.again, self.scale = self.layers[0], Parameter(np.ones(2, np.float32))

        def forward(self, x):
            return self.again(self.layers[1](self.layers[0](x))) * self.scale

    model = Model()
    assert list(model.named_parameters()) == ["scale", "layers.0.weight", "layers.0.bias", "layers.1.weight"]
    model(np.ones((1, 2), np.float32)).sum().backward()
    assert all(each.grad is not None for each in model.parameters())
    model.clear()
    assert all(each.grad is None for each in model.parameters())
    assert model.to(np.float64).scale.value.dtype == np.float64
    values = {name: each.value + 1 for name, each in model.named_parameters().items()}
    model.load(values)
    np.testing.assert_array_equal(model.layers[1].weight.value, values["layers.1.weight"])
    with pytest.raises(UsageError, match=r"layers.0.bias is missing"):
        model.load({name: each for name, each in values.items() if name != "layers.0.bias"})
    with pytest.raises(UsageError, match=r"scale has shape \(3,\), expected \(2,\)"):
        model.load(values | {"scale": np.ones(3)})


def test_a_deep_graph_needs_no_deep_recursion():
    x = Tensor(1.0)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    assert gather(y)[x] == 1.0
    y.backward()
    assert x.grad == 1.0
    del y


@pytest.mark.parametrize(("work", "said"), [
    (lambda: (Tensor(np.ones(3)) * 2).backward(), r"shape \(3,\), expected a single number"),
    (lambda: graph(np.ones(1)), "begins at ndarray, expected a Tensor"),
    (lambda: scatter(2.0), "begins at float, expected a Tensor"),
    (lambda: Tensor(np.ones(2, np.float16)), "type float16, expected float32, float64 or integers"),
    (lambda: Tensor("text"), "expected float32"),
    (lambda: Linear(3, 2)(np.ones((2, 4), np.float32)), r"linear was given shape \(2, 4\), expected \(…, 3\)"),
    (lambda: Sigmoid().to(np.float16), "expected float32 or float64"),
    (lambda: Tensor(np.ones((2, 3))) @ Tensor(np.ones((2, 3))), r"\(2, 3\) and \(2, 3\), expected"),
])
def test_mistakes_are_reported_in_one_line(work, said):
    with pytest.raises(UsageError, match=said):
        work()


@pytest.mark.parametrize(("work", "kind", "note"), [
    (lambda: Tensor(np.ones(3)) + np.ones(4), ValueError, "Add was given inputs of shape (3,), (4,)."),
    (lambda: Tensor(np.ones((2, 3)))[5], IndexError, "Slice was given inputs of shape (2, 3)."),
    (lambda: Bias(5)(np.ones((2, 3))), ValueError, "Bias was given inputs of shape (2, 3)."),
])
def test_an_error_of_numpy_says_in_which_module_it_was(work, kind, note):
    with pytest.raises(kind) as caught:
        work()
    assert caught.value.__notes__ == [note]
    assert len(list(Tensor(np.ones(3)))) == 3  # an index out of bounds still ends a loop


def test_a_backward_with_too_few_gradients_is_reported():
    class Short(Module):
        def forward(self, a, b):
            return a * b, None

        def backward(self, dy, memory):
            return dy

    with pytest.raises(UsageError, match="Short.backward gives 1 gradients, expected 2"):
        Short()(Tensor(1.0), Tensor(2.0)).backward()
