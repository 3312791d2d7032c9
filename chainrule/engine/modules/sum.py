"""Sums over some axes or all."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Sum(Module):
    r"""The sum over some axes, or over all.

    y = Σ x,   dx = dy, repeated along the axes that were summed.
    """

    def __init__(self, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False):
        self.axis, self.keepdims = axis, keepdims

    def forward(self, x: Array) -> tuple[Array, tuple[int, ...]]:
        return x.sum(axis=self.axis, keepdims=self.keepdims), x.shape

    def backward(self, dy: Array, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(widened(dy, shape, self.axis, self.keepdims), shape)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Sum, list[Array]]:
        return Sum(axis=(0, 2)), [random.normal(size=(3, 5, 2))]


def widened(dy: Array, shape: tuple[int, ...], axis: int | tuple[int, ...] | None, keepdims: bool) -> Array:
    """With the reduced axes back, of length 1."""
    return dy if axis is None or keepdims else np.expand_dims(dy, axis)
