"""The natural logarithm."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Log(Module):
    r"""The natural logarithm of each number.

    y = ln x,   dx = dy / x
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        return np.log(x), x

    def backward(self, dy: Array, x: Array) -> Array:
        return dy / x

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Log, list[Array]]:
        return Log(), [random.uniform(0.5, 2, size=(3, 5))]
