"""Axes in another order."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Transpose(Module):
    r"""The axes in another order; from last to first if none is given.

    y[…, iₐ, …] = x[i₀, i₁, …],   dx = dy with the axes back in their order.
    """

    def __init__(self, axes: tuple[int, ...] | None = None):
        self.axes = axes

    def forward(self, x: Array) -> tuple[Array, None]:
        return x.transpose(self.axes), None

    def backward(self, dy: Array, memory: None) -> Array:
        return dy.transpose(None if self.axes is None else np.argsort([axis % dy.ndim for axis in self.axes]))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Transpose, list[Array]]:
        return Transpose((1, 2, 0)), [random.normal(size=(2, 5, 3))]
