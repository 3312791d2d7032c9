"""The mean of each window."""

from __future__ import annotations

import math

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._windows import sizes, spread, windows
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class MeanPooling(Module):
    r"""The mean of each window.

    y = Σ x / n over the window,   dx = dy / n, from every window that a number lay in

    `size` has a number for each of the last axes; windows lie side by side if no stride is given.
    """

    def __init__(self, *, size: int | tuple[int, ...] = 2, stride: int | tuple[int, ...] | None = None):
        self.size = sizes("MeanPooling.size", size)
        self.stride = self.size if stride is None else sizes("MeanPooling.stride", stride, len(self.size))

    def forward(self, x: Array) -> tuple[Array, tuple[int, ...]]:
        seen = windows(x, self.size, self.stride)
        return seen.mean(axis=tuple(range(x.ndim, seen.ndim))), x.shape

    def backward(self, dy: Array, memory: tuple[int, ...]) -> Array:
        given = np.broadcast_to((dy / math.prod(self.size))[(..., *(None,) * len(self.size))], (*dy.shape, *self.size))
        return spread(given, memory, self.size, self.stride)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[MeanPooling, list[Array]]:
        return MeanPooling(size=(3, 2), stride=(2, 1)), [random.normal(size=(2, 3, 7, 5))]
