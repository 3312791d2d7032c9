"""Multiplication of each entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Multiply(Module):
    r"""The product of two arrays entry by entry, broadcast to each other.

    y = a b,   da = dy b,   db = dy a
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
        return a * b, (a, b)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Callable[[], Array], Callable[[], Array]]:
        a, b = memory
        return lambda: dy * b, lambda: dy * a

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Multiply, list[Array]]:
        return Multiply(), [random.normal(size=(3, 5)), random.normal(size=5)]
