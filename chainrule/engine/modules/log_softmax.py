"""Scores to log-probabilities."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class LogSoftmax(Module):
    r"""Scores along an axis to the logarithms of probabilities.

    y_i = x_i − ln Σ_j e^{x_j},   dx = dy − e^y Σ_j dy_j
    """

    def __init__(self, *, axis: int = -1):
        self.axis = axis

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = x - x.max(axis=self.axis, keepdims=True)
        y -= np.log(np.exp(y).sum(axis=self.axis, keepdims=True))
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        return dy - np.exp(y) * dy.sum(axis=self.axis, keepdims=True)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[LogSoftmax, list[Array]]:
        return LogSoftmax(), [random.normal(size=(2, 3, 5))]
