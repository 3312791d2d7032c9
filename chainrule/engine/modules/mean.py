"""Means over some axes or all."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules.sum import widened
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Mean(Module):
    r"""The mean over some axes, or over all.

    y = Σ x / n,   dx = dy / n, repeated along the axes that were averaged.
    """

    def __init__(self, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False):
        self.axis, self.keepdims = axis, keepdims

    def forward(self, x: Array) -> tuple[Array, tuple[tuple[int, ...], int]]:
        y = x.mean(axis=self.axis, keepdims=self.keepdims)
        return y, (x.shape, x.size // max(y.size, 1))

    def backward(self, dy: Array, memory: tuple[tuple[int, ...], int]) -> Array:
        shape, many = memory
        return np.broadcast_to(widened(dy / many, shape, self.axis, self.keepdims), shape)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Mean, list[Array]]:
        return Mean(axis=1), [random.normal(size=(3, 5, 2))]
