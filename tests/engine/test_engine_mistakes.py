"""A user's mistakes with the engine are reported in one line."""

import numpy as np
import pytest

from chainrule.engine import Composite, Module, Parameter, Tensor, gradcheck, untaped
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import find


def module(name, *args, **options):
    return find("engine/modules", name)(*args, **options)


def test_a_fraction_beside_whole_numbers_stays_a_fraction():
    for y in (Tensor([1, 2, 3]) * 0.5, 0.5 * Tensor([1, 2, 3])):
        assert y.value.tolist() == [0.5, 1.0, 1.5]


def test_a_number_has_the_type_of_the_floats_beside_it():
    assert (2.5 * Tensor(np.ones(3, np.float32))).value.dtype == np.float32


@pytest.mark.parametrize("loss", [lambda: Tensor(3) * Tensor(3), lambda: module("sum")(np.ones(3))])
def test_a_backward_pass_without_any_gradient_is_refused(loss):
    with pytest.raises(UsageError, match=r"nothing has a gradient of.*Tensor\(3\.0\)"):
        loss().backward()


def test_a_loss_made_without_a_tape_is_reported():
    x = Tensor(2.0)
    with untaped():
        y = x * x
    with pytest.raises(UsageError, match=r"inside untaped\(\)"):
        y.backward()
    assert y.grad is None


def test_every_gradient_is_an_array_of_its_own():
    x, y = Tensor(np.ones((2, 3))), Tensor(np.ones((2, 3)))
    (x + y).sum().backward()
    x.grad *= 2
    assert x.grad.tolist() == [[2.0] * 3] * 2 and y.grad.tolist() == [[1.0] * 3] * 2
    z = Tensor(3.0)
    (z * z).backward()
    assert isinstance(z.grad, np.ndarray)


class Twice(Module):
    """y = 2 x, as a user may write it; y and the gradient are given as they come."""

    def __init__(self, forward, backward=lambda dy: 2 * dy):
        self.ahead, self.back = forward, backward

    def forward(self, x):
        return self.ahead(x)

    def backward(self, dy, memory):
        return self.back(dy)


def test_a_forward_without_memory_is_reported_and_not_unpacked():
    with pytest.raises(UsageError, match=r"Twice\.forward gives ndarray, expected a pair: the output, and"):
        Twice(lambda x: 2 * x)(np.ones((2, 3)))


def test_a_module_made_of_modules_that_is_no_composite_is_reported():
    linear = module("linear", 2, 2)
    with pytest.raises(UsageError, match="forward gives a tensor.*is a Composite"):
        Twice(linear)(np.ones((2, 2)))


@pytest.mark.parametrize("wrong", [lambda dy: np.ones(5), lambda dy: dy.T, lambda dy: 1.0, lambda dy: dy[:1]])
def test_a_gradient_of_another_shape_is_reported(wrong):
    with pytest.raises(UsageError, match=r"Twice\.backward gives a gradient of shape .*, expected \(2, 3\)"):
        Twice(lambda x: (2 * x, None), wrong)(Tensor(np.ones((2, 3)))).sum().backward()


def test_gradients_may_be_a_list():
    gradcheck(Twice(lambda x: (2 * x, None), lambda dy: [2 * dy]), [np.ones(3)])


def test_gradcheck_refuses_wrong_arguments():
    with pytest.raises(UsageError, match="given function and list, expected a module and a list of its inputs"):
        gradcheck(lambda x: x, [np.ones(2)])
    with pytest.raises(UsageError, match="given ReLU and ndarray"):
        gradcheck(module("relu"), np.ones(2))


class Holder(Composite):
    """Modules and parameters wherever a user may put them."""

    def __init__(self):
        self.by_name = {"up": module("linear", 2, 3), "down": [[module("bias", 3)]]}
        self.scales = [Parameter(np.ones(3)), Parameter(np.ones(2))]


def test_parameters_in_dictionaries_and_nested_lists_are_found():
    assert set(Holder().named_parameters()) == {"by_name.up.weight", "by_name.up.bias", "by_name.down.0.0.bias",
                                                "scales.0", "scales.1"}


def test_a_parameter_that_was_taken_away_is_no_longer_passed():
    linear = module("linear", 2, 3)
    linear.bias = None
    gradcheck(linear, [np.ones((4, 2))])
    assert list(linear.named_parameters()) == ["weight"]


@pytest.mark.parametrize("loss", ["cross_entropy", "softmax_cross_entropy"])
@pytest.mark.parametrize("target, message", [
    ([-1, 0], "classes from -1 to 0, expected 0 to 2"), ([0, 3], "classes from 0 to 3, expected 0 to 2"),
    ([0], r"shape \(1,\), expected classes of shape \(2,\)"), ([True, False], "type bool"),
    ([0.3, 0.3, 0.4], r"distributions of \(2, 3\)")])
def test_targets_that_do_not_fit_are_reported(loss, target, message):
    with pytest.raises(UsageError, match=f"{loss} was given .*{message}"):
        module(loss)(np.full((2, 3), 1 / 3), np.array(target))


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_a_norm_of_another_width_is_reported(norm):
    with pytest.raises(UsageError, match=rf"{norm} was given shape \(2, 1\), expected \(…, 5\)"):
        module(norm, 5)(np.ones((2, 1)))


def test_states_that_do_not_fit_are_reported():
    with pytest.raises(UsageError, match=r"LSTM was given 1 states, expected 2: module\.start"):
        module("lstm", 3, 5)(np.ones((2, 4, 3)), np.zeros((2, 5)))
    with pytest.raises(UsageError, match=r"Elman was given states of shapes \[\(1, 5\)\], expected \(2, 5\)"):
        module("elman", 3, 5)(np.ones((2, 4, 3)), np.zeros((1, 5)))
    with pytest.raises(UsageError, match=r"GRUCell was given shape \(2, 4\), expected \(batch, 3\)"):
        module("gru_cell", 3, 5)(np.ones((2, 4)), np.zeros((2, 5)))


def test_a_mask_of_zeros_and_ones_is_not_added_to_scores():
    q, k, v = np.ones((1, 1, 3)), np.ones((1, 2, 3)), np.ones((1, 2, 1))
    with pytest.raises(UsageError, match=r"mask of whole numbers.*mask\.astype\(bool\)"):
        module("dot_product_attention")(q, k, v, np.array([[1, 0]]))


def test_queries_and_keys_of_two_widths_are_reported():
    with pytest.raises(UsageError, match="queries of width 3 and keys of width 4"):
        module("dot_product_attention")(np.ones((5, 3)), np.ones((5, 4)), np.ones((5, 4)))


def test_one_query_for_all_rows_and_one_index_for_all_columns_are_broadcast():
    random = np.random.default_rng(0)
    gradcheck(module("additive_attention", 3, 4, hidden=6, random=random),
              [random.normal(size=shape) for shape in ((1, 5, 3), (2, 7, 4), (2, 7, 2))])
    gradcheck(module("gather", axis=0), [random.normal(size=(5, 3)), random.integers(5, size=(2, 1))])


def test_a_polynomial_has_a_gradient_at_zero():
    x, y = Tensor(0.0), Tensor(2.0)
    (5 * x**0 + 3 * x**1 + x**2).backward()
    (Tensor(0.0) ** y).backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 0.0)


def test_shapes_and_axes_may_be_tuples():
    x = Tensor(np.arange(6.0))
    assert x.reshape((2, 3)).transpose((1, 0)).shape == x.reshape(2, 3).transpose(1, 0).shape == (3, 2)


@pytest.mark.parametrize("name, sizes", [("embedding", (0, 3)), ("embedding", (5, -1)), ("layer_norm", (0,)),
                                         ("rms_norm", (-1,)), ("bias", (0,)), ("convolution_1d", (0, 3)),
                                         ("convolution_2d", (3, 0)), ("linear", (0, 2)), ("gru", (2, 0))])
def test_a_module_without_numbers_is_refused(name, sizes):
    with pytest.raises(OptionError, match="at least 1"):
        module(name, *sizes)


@pytest.mark.parametrize("given, message", [
    (lambda linear: linear, r"given Linear, expected a list: module\.parameters"),
    (lambda linear: linear.named_parameters(), "given dict, expected a list"),
    (lambda linear: linear.weight, "given Parameter, expected a list"),
    (lambda linear: [linear.weight.value], "given ndarray among its parameters, expected tensors")])
def test_an_optimizer_refuses_wrong_arguments(given, message):
    with pytest.raises(UsageError, match=f"SGD was {message}"):
        find("engine/optimizers", "sgd")(given(module("linear", 2, 2)))
