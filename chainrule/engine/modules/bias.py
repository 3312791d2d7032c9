"""A learned number added to each column."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError
from chainrule.recipe.registry import part


@part
class Bias(Module):
    r"""Adds a learned vector to every row.

    y = x + b,   dx = dy,   db = Σ dy over rows. b starts at 0.
    """

    def __init__(self, width: int):
        if width < 1:
            raise OptionError("Bias.width", width, "at least 1")
        self.bias = Parameter(np.zeros(width, np.float32))

    def forward(self, x: Array, bias: Array) -> tuple[Array, None]:
        return x + bias, None

    def backward(self, dy: Array, memory: None) -> tuple[Array, Array]:
        return dy, dy  # the second is summed to the shape of b, as with any broadcast

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Bias, list[Array]]:
        return Bias(5), [random.normal(size=(2, 3, 5))]
