"""The same numbers in another shape."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Reshape(Module):
    r"""The same numbers in the same order, in another shape; one length may be −1.

    y = x in the new shape,   dx = dy in the old one.
    """

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape

    def forward(self, x: Array) -> tuple[Array, tuple[int, ...]]:
        return x.reshape(self.shape), x.shape

    def backward(self, dy: Array, shape: tuple[int, ...]) -> Array:
        return dy.reshape(shape)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Reshape, list[Array]]:
        return Reshape((5, -1)), [random.normal(size=(2, 5, 3))]
