"""The logistic function."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Sigmoid(Module):
    r"""Any number to one between 0 and 1.

    y = 1 / (1 + e⁻ˣ) = (1 + tanh(x/2)) / 2,   dx = dy y (1 − y); by tanh, which never overflows.
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = np.tanh(x * 0.5)
        y *= 0.5
        y += 0.5
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        return dy * (y * (1 - y))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Sigmoid, list[Array]]:
        return Sigmoid(), [random.normal(size=(3, 5))]
