"""The hyperbolic tangent."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Tanh(Module):
    r"""Any number to one between −1 and 1.

    y = tanh x,   dx = dy (1 − y²)
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = np.tanh(x)
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        return dy * (1 - y * y)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Tanh, list[Array]]:
        return Tanh(), [random.normal(size=(3, 5))]
