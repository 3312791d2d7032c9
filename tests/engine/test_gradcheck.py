"""gradcheck finds a wrong backward, and says where it is wrong and by how much."""

import numpy as np
import pytest

from chainrule.engine import GradientError, Module, Parameter, gradcheck
from chainrule.engine.modules.dropout import Dropout
from chainrule.engine.modules.embedding import Embedding
from chainrule.engine.modules.linear import Linear
from chainrule.errors import UsageError


class Cubed(Module):
    """y = x³, with a slope that is wrong for one entry."""

    def __init__(self, wrong=None):
        self.wrong = wrong

    def forward(self, x):
        return x**3, x

    def backward(self, dy, x):
        dx = 3 * dy * x**2
        if self.wrong is not None:
            dx[self.wrong] *= 1.01
        return dx


def test_a_wrong_entry_is_found_and_reported():
    x = np.random.default_rng(0).normal(2, 0.1, size=(3, 5))
    assert gradcheck(Cubed(), [x]).error < 1e-7
    with pytest.raises(GradientError, match=r"^Cubed\.backward = \S+ at input 0 \[1, 3\], expected \S+ by central "
                                            r"differences\. Of 15 entries this is the worst\.$"):
        gradcheck(Cubed((1, 3)), [x])


def test_the_worst_entry_comes_back_with_both_values():
    found = gradcheck(Cubed((2, 0)), [np.full((3, 5), 2.0)], tolerance=1)
    assert found.where == "input 0 [2, 0]" and found.backward == pytest.approx(found.differences * 1.01, rel=1e-6)
    assert str(found).startswith("Cubed: 15 entries, the worst is input 0 [2, 0]: ")


@pytest.mark.parametrize("wrong", ["missing", "nan", "sign", "sum"])
def test_usual_mistakes_are_caught(wrong):
    class Scaled(Module):
        def __init__(self):
            self.gain = Parameter(np.ones(3))

        def forward(self, x, gain):
            return x * gain, (x, gain)

        def backward(self, dy, memory):
            x, gain = memory
            return dy * gain * (-1 if wrong == "sign" else 1), {
                "missing": None, "nan": dy * x * np.nan, "sum": (dy * x).mean(axis=0)}.get(wrong, dy * x)

    with pytest.raises(GradientError, match="Scaled.backward = " + (
            r"\S+ at input 0" if wrong == "sign" else r"\S+ at gain \[\d\]")):
        gradcheck(Scaled(), [np.random.default_rng(0).normal(size=(4, 3))])


def test_gradcheck_changes_neither_module_nor_inputs():
    layer, x = Linear(3, 2), np.ones((4, 3), np.float32)
    before = layer.weight.value.copy()
    gradcheck(layer, [x])
    np.testing.assert_array_equal(layer.weight.value, before)
    assert layer.weight.value.dtype == np.float32 and layer.weight.grad is None and (x == 1).all()


def test_every_evaluation_leaves_out_the_same_numbers():
    drop = Dropout(rate=0.5, seed=3)
    gradcheck(drop, [np.ones((4, 5))])
    first = drop(np.ones((4, 5))).value
    assert (first == Dropout(rate=0.5, seed=3)(np.ones((4, 5))).value).all(), "the check drew nothing from it"


def test_nothing_to_check_is_an_error():
    class Count(Module):
        def forward(self, ids):
            return ids * 1.0, None

    with pytest.raises(UsageError, match="there is nothing to check"):
        gradcheck(Count(), [np.arange(3)])
    with pytest.raises(UsageError, match="there is nothing to check"):
        gradcheck(Count(), [np.ones((0, 3))])
    assert gradcheck(Embedding(3, 2), [np.arange(3)]).entries == 6
