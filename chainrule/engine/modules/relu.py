"""The rectified linear unit."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class ReLU(Module):
    r"""Negative numbers become 0.

    y = max(x, 0),   dx = dy [x > 0]
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        return np.maximum(x, 0), x

    def backward(self, dy: Array, x: Array) -> Array:
        return dy * (x > 0)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[ReLU, list[Array]]:
        return ReLU(), [random.normal(size=(3, 5))]
