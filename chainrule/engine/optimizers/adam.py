"""Adam: steps of the size of the rate, whatever the gradient's size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.engine.optimizers._optimizer import Optimizer, checked
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class Adam(Optimizer):
    r"""Steps of the size of the rate, whatever the gradient's size.

    m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²,   w ← w − η m̂ / (√v̂ + ε),   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)

    Kingma & Ba 2015, arXiv:1412.6980, algorithm 1.
    """

    keeps = ("mean", "square")

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 1e-3, beta1: float = 0.9,
                 beta2: float = 0.999, epsilon: float = 1e-8):
        super().__init__(parameters, rate)
        self.beta1, self.beta2 = checked("Adam.beta1", beta1, 0, 1, or_equal=True), checked("Adam.beta2", beta2, 0, 1)
        self.epsilon = epsilon

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        first, second = 1 / (1 - self.beta1**self.steps), (1 - self.beta2**self.steps) ** -0.5
        if self.fused:
            from chainrule.kernels.engine_updates import adam

            mean, square = kept
            adam(value, gradient, mean, square, (self.rate, self.beta1, self.beta2, self.epsilon, first, second))
        else:
            value -= self.rate * self.direction(gradient, kept[0], kept[1], first, second)

    def direction(self, gradient: Array, mean: Array, square: Array, first: float, second: float) -> Array:
        """m̂ / (√v̂ + ε) after both have moved."""
        mean *= self.beta1
        mean += (1 - self.beta1) * gradient
        square *= self.beta2
        square += (1 - self.beta2) * (gradient * gradient)
        size = np.sqrt(square, out=np.empty_like(square))  # an array also of a scalar, for which NumPy gives a number
        size *= second
        size += self.epsilon
        np.divide(mean, size, out=size)
        size *= first
        return size
