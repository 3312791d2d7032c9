"""Scores to probabilities."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Softmax(Module):
    r"""Scores along an axis to probabilities.

    y_i = e^{x_i} / Σ_j e^{x_j},   dx = y ⊙ (dy − Σ_j dy_j y_j); the largest score is taken off first.
    """

    def __init__(self, *, axis: int = -1):
        self.axis = axis

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = np.exp(x - x.max(axis=self.axis, keepdims=True))
        y /= y.sum(axis=self.axis, keepdims=True)
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        return y * (dy - (dy * y).sum(axis=self.axis, keepdims=True))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Softmax, list[Array]]:
        return Softmax(axis=1), [random.normal(size=(2, 5, 3))]
