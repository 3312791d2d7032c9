"""The largest number of each window."""

from __future__ import annotations

import math

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._windows import sizes, spread, windows
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class MaxPooling(Module):
    r"""The largest number of each window.

    y = max x over the window,   dx = dy at the largest (the first of equals), 0 elsewhere

    `size` has a number for each of the last axes; windows lie side by side if no stride is given.
    """

    def __init__(self, *, size: int | tuple[int, ...] = 2, stride: int | tuple[int, ...] | None = None):
        self.size = sizes("MaxPooling.size", size)
        self.stride = self.size if stride is None else sizes("MaxPooling.stride", stride, len(self.size))

    def forward(self, x: Array) -> tuple[Array, tuple[tuple[int, ...], Array]]:
        seen = windows(x, self.size, self.stride)
        flat = seen.reshape(*seen.shape[:x.ndim], -1)
        best = flat.argmax(axis=-1)[..., None]
        return np.take_along_axis(flat, best, -1)[..., 0], (x.shape, best)

    def backward(self, dy: Array, memory: tuple[tuple[int, ...], Array]) -> Array:
        shape, best = memory
        given = np.zeros((*dy.shape, math.prod(self.size)), dy.dtype)
        np.put_along_axis(given, best, dy[..., None], -1)
        return spread(given.reshape(*dy.shape, *self.size), shape, self.size, self.stride)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[MaxPooling, list[Array]]:
        return MaxPooling(size=(3, 2), stride=(2, 1)), [random.normal(size=(2, 3, 7, 5))]
