"""The sigmoid-weighted linear unit, also called Swish."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class SiLU(Module):
    r"""A number times its own sigmoid.

    y = x σ(x),   dx = dy σ(x) (1 + x (1 − σ(x)))

    Elfwing, Uchibe & Doya 2017, arXiv:1702.03118.
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        return x * (0.5 + 0.5 * np.tanh(0.5 * x)), x

    def backward(self, dy: Array, x: Array) -> Array:
        s = 0.5 + 0.5 * np.tanh(0.5 * x)
        return dy * (s * (1 + x * (1 - s)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SiLU, list[Array]]:
        return SiLU(), [random.normal(size=(3, 5))]
