"""Steps of optimizers in one pass over memory; they equal the NumPy lines of SGD and Adam in chainrule.engine."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel


def descend(value: np.ndarray, gradient: np.ndarray, rate: float) -> None:
    """w ← w − η g."""
    kind = value.dtype.type
    _descend(value.reshape(-1), np.ascontiguousarray(gradient).reshape(-1), kind(rate))


def adam(value: np.ndarray, gradient: np.ndarray, mean: np.ndarray, square: np.ndarray,
         numbers: tuple[float, ...]) -> None:
    """One step of Adam; numbers are η, β₁, β₂, ε, 1/(1 − β₁ᵗ) and 1/√(1 − β₂ᵗ)."""
    rate, beta1, beta2, epsilon, first, second = numbers
    given = np.array([rate, beta1, 1 - beta1, beta2, 1 - beta2, epsilon, first, second], value.dtype)
    _adam(value.reshape(-1), np.ascontiguousarray(gradient).reshape(-1), mean.reshape(-1), square.reshape(-1), given)


@kernel()
def _descend(value, gradient, rate):
    for i in range(value.size):
        value[i] -= rate * gradient[i]


@kernel()
def _adam(value, gradient, mean, square, numbers):
    rate, keep1, take1, keep2, take2, epsilon, first, second = numbers
    for i in range(value.size):
        g = gradient[i]
        m = mean[i] * keep1 + take1 * g
        v = square[i] * keep2 + take2 * (g * g)
        mean[i], square[i] = m, v
        value[i] -= rate * (m / (np.sqrt(v) * second + epsilon) * first)
