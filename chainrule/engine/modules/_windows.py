"""Windows over the last axes, for convolution and pooling, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from chainrule.engine.tensor import Array
from chainrule.errors import OptionError, UsageError

Sizes = tuple[int, ...]


def sizes(where: str, given: int | tuple[int, ...], axes: int | None = None, *, least: int = 1) -> Sizes:
    """A number for each axis; one number stands for all."""
    found = (given,) * (axes or 1) if isinstance(given, int) else tuple(given)
    if any(each < least for each in found) or (axes is not None and len(found) != axes):
        raise OptionError(where, given, f"a number of at least {least}" + (f" for each of {axes} axes" if axes else ""))
    return found


def windows(x: Array, size: Sizes, stride: Sizes) -> Array:
    """(…, places, size): a view, without copying."""
    axes = tuple(range(x.ndim - len(size), x.ndim))
    if any(x.shape[axis] < length for axis, length in zip(axes, size, strict=True)):
        raise UsageError(f"a window of {size} was put over shape {x.shape}: it is larger than the last axes.")
    seen = sliding_window_view(x, size, axis=axes)
    return seen[(slice(None),) * axes[0] + tuple(slice(None, None, step) for step in stride)]


def spread(given: Array, shape: tuple[int, ...], size: Sizes, stride: Sizes) -> Array:
    """The backward pass: the gradient of each place of a window is added where the window lay."""
    x = np.zeros(shape, given.dtype)
    places = given.shape[len(shape) - len(size):len(shape)]
    for offset in np.ndindex(size):
        there: Any = (..., *(slice(o, o + step * n, step) for o, step, n in zip(offset, stride, places, strict=True)))
        x[there] += given[..., *offset]
    return x
