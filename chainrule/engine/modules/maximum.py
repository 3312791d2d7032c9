"""The larger of two entries."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Maximum(Module):
    r"""The larger of two arrays entry by entry, broadcast to each other; the first where they are equal.

    y = max(a, b),   da = dy [a ≥ b],   db = dy [a < b]
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, Array]:
        return np.maximum(a, b), a >= b

    def backward(self, dy: Array, first: Array) -> tuple[Array, Array]:
        return dy * first, dy * ~first

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Maximum, list[Array]]:
        return Maximum(), [random.normal(size=(3, 5)), random.normal(size=5)]
