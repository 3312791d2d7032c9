"""The Gaussian error linear unit by tanh, as GPT-2 has it."""

from __future__ import annotations

import math

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part

ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715


@part
class GELUTanh(Module):
    r"""The Gaussian error linear unit, approximated by tanh.

    y = x (1 + t)/2,   t = tanh u,   u = √(2/π) (x + 0.044715 x³)
    dx = dy ((1 + t)/2 + x (1 − t²)/2 · √(2/π) (1 + 3 · 0.044715 x²))

    Hendrycks & Gimpel 2016, arXiv:1606.08415, §2.
    """

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        t = np.tanh(ROOT * (x + CUBIC * x * x * x))
        return 0.5 * x * (1 + t), (x, t)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> Array:
        x, t = memory
        slope = ROOT * (1 + 3 * CUBIC * x * x)
        return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[GELUTanh, list[Array]]:
        return GELUTanh(), [random.normal(size=(3, 5))]
