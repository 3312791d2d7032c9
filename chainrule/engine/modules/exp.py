"""The exponential function."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Exp(Module):
    r"""e to the power of each number.

    y = eˣ,   dx = dy y
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = np.exp(x)
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        return dy * y

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Exp, list[Array]]:
        return Exp(), [random.normal(size=(3, 5))]
