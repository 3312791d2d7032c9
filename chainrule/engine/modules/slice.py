"""A piece of an array by brackets."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Slice(Module):
    r"""What NumPy's brackets give: `x[2]`, `x[:, 1:3]`, `x[rows]`.

    y = x[index],   dx = 0 with dy added at [index]; what is taken twice gets both.
    """

    def __init__(self, index: Any):
        self.index = index

    def forward(self, x: Array) -> tuple[Array, tuple[int, ...]]:
        return x[self.index], x.shape

    def backward(self, dy: Array, shape: tuple[int, ...]) -> Array:
        dx = np.zeros(shape, dy.dtype)
        if isinstance(self.index, int | slice) or (
                isinstance(self.index, tuple) and all(isinstance(each, int | slice) for each in self.index)):
            dx[self.index] = dy  # nothing is taken twice
        else:
            np.add.at(dx, self.index, dy)
        return dx

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Slice, list[Array]]:
        return Slice((slice(None), np.array([1, 0, 1]))), [random.normal(size=(2, 5, 3))]
