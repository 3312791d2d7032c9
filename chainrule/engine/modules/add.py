"""Addition of two arrays."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Add(Module):
    r"""The sum of two arrays, broadcast to each other.

    y = a + b,   da = dy,   db = dy
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, None]:
        return a + b, None

    def backward(self, dy: Array, memory: None) -> tuple[Array, Array]:
        return dy, dy

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Add, list[Array]]:
        return Add(), [random.normal(size=(3, 5)), random.normal(size=5)]
