"""Broadcasting backward: a value that was used many times gets the sum of what came back."""

from __future__ import annotations

import numpy as np


def summed_to(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array that broadcasting made larger: summed over the axes along which it was repeated."""
    if gradient.shape == shape:
        return gradient
    new = gradient.ndim - len(shape)
    repeated = tuple(axis for axis in range(gradient.ndim)
                     if axis < new or (shape[axis - new] == 1 and gradient.shape[axis] != 1))
    return gradient.sum(axis=repeated, keepdims=True).reshape(shape)
