"""Subtraction of two arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Subtract(Module):
    r"""The difference of two arrays, broadcast to each other.

    y = a − b,   da = dy,   db = −dy
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, None]:
        return a - b, None

    def backward(self, dy: Array, memory: None) -> tuple[Array, Callable[[], Array]]:
        return dy, lambda: -dy

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Subtract, list[Array]]:
        return Subtract(), [random.normal(size=(3, 5)), random.normal(size=5)]
