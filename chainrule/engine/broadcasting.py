"""The backward pass of broadcasting: a repeated value gets the sum of its gradients."""

from __future__ import annotations

import numpy as np

from chainrule.errors import UsageError


def summed_to(gradient: np.ndarray, shape: tuple[int, ...], module: str) -> np.ndarray:
    """The gradient of an array that was broadcast: summed over the repeated axes."""
    if gradient.shape == shape:
        return gradient
    new = gradient.ndim - len(shape)
    if new < 0 or any(own not in (1, given) for own, given in zip(shape, gradient.shape[new:], strict=True)):
        raise UsageError(f"{module}.backward gives a gradient of shape {gradient.shape}, expected {shape}, or one that "
                         "broadcasting makes of it.")
    repeated = tuple(axis for axis in range(gradient.ndim)
                     if axis < new or (shape[axis - new] == 1 and gradient.shape[axis] != 1))
    return gradient.sum(axis=repeated, keepdims=True).reshape(shape)
