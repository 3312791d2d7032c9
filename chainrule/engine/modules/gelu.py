"""The Gaussian error linear unit, exactly."""

from __future__ import annotations

import math

import numpy as np

from chainrule.engine.error_function import erf
from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class GELU(Module):
    r"""A number times the chance that a standard normal one is smaller.

    y = x Φ(x),   dx = dy (Φ(x) + x φ(x)),   Φ(x) = (1 + erf(x/√2)) / 2,   φ(x) = e^(−x²/2) / √(2π)

    Hendrycks & Gimpel 2016, arXiv:1606.08415.
    """

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        below = 0.5 * (1 + erf(x * math.sqrt(0.5)))
        return x * below, (x, below)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> Array:
        x, below = memory
        return dy * (below + x * np.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[GELU, list[Array]]:
        return GELU(), [random.normal(size=(3, 5))]
