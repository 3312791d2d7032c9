"""The largest entries of each row, ties to the lowest id: n-grams give thousands of words the same probability."""

from __future__ import annotations

import array_api_compat
import numpy as np

from chainrule.arrays import namespace
from chainrule.protocols import Array


def largest(x_BV: Array, count: int) -> Array:
    """(B, count): the largest values of each row, from the largest down."""
    xp = namespace(x_BV)
    width = x_BV.shape[1]
    if count < width and array_api_compat.is_numpy_namespace(xp):  # the array API can sort but not partition
        x_BV = np.partition(x_BV, width - count, axis=1)[:, width - count :]
    return xp.sort(x_BV, axis=1, descending=True)[:, :count]


def keep(x_BV: Array, least_B1: Array, count_B1: Array) -> Array:
    """Exactly `count` entries of each row stay, the others become −∞; `least` is the smallest value that stays."""
    xp = namespace(x_BV)
    above_BV, equal_BV = x_BV > least_B1, x_BV == least_B1
    room_B1 = count_B1 - xp.sum(xp.astype(above_BV, xp.int64), axis=1, keepdims=True)
    first_BV = equal_BV & (xp.cumulative_sum(xp.astype(equal_BV, xp.int64), axis=1) <= room_B1)
    return xp.where(above_BV | first_BV, x_BV, -xp.inf)
