"""Division of each entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Divide(Module):
    r"""The quotient of two arrays entry by entry, broadcast to each other.

    y = a / b,   da = dy / b,   db = −dy a / b²
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
        return a / b, (a, b)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Callable[[], Array], Callable[[], Array]]:
        a, b = memory
        return lambda: dy / b, lambda: -dy * a / (b * b)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Divide, list[Array]]:
        return Divide(), [random.normal(size=(3, 5)), random.uniform(0.5, 2, size=5)]
