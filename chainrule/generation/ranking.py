"""The largest entries of each row, ties to the lowest id: n-grams give thousands of words the same probability."""

from __future__ import annotations

import numpy as np

from chainrule.arrays import namespace, on_host
from chainrule.protocols import Array

SHARE = 16  # entries of a row that send their largest ahead


def largest(x_BV: Array, count: int) -> Array:
    """(B, count): the largest values of each row, from the largest down."""
    if not on_host(x_BV):
        return x_BV.topk(count, dim=1).values  # of torch; the array API has nothing of the kind
    xp = namespace(x_BV)
    if count * SHARE <= x_BV.shape[1] and isinstance(x_BV, np.ndarray):
        x_BV = np.stack([_contenders(x_V, count) for x_V in x_BV])
    return -xp.sort(-x_BV, axis=1)[:, :count]  # NumPy has no descending order


def _contenders(x_V: np.ndarray, count: int) -> np.ndarray:
    """The `count` largest of one row, in any order, much faster than by partitioning or sorting all of it.

    Of V/16 groups each names its largest; `count` entries are at least as large as the count-th of those.
    """
    groups = x_V[: len(x_V) // SHARE * SHARE].reshape(SHARE, -1).max(axis=0)
    bound = np.partition(groups, len(groups) - count)[len(groups) - count]
    few = x_V[x_V >= bound]
    return np.partition(few, len(few) - count)[len(few) - count :]


def keep(x_BV: Array, least_B1: Array, count_B1: Array) -> Array:
    """Exactly `count` entries of each row stay, the others become −∞; `least` is the smallest value that stays."""
    xp = namespace(x_BV)
    kept_BV = x_BV >= least_B1
    excess_B1 = xp.count_nonzero(kept_BV, axis=1, keepdims=True) - count_B1
    if not on_host(x_BV) or bool(xp.any(excess_B1 > 0)):  # of those equal to the least, the last ones go
        equal_BV = x_BV == least_B1
        room_B1 = xp.count_nonzero(equal_BV, axis=1, keepdims=True) - excess_B1
        kept_BV = kept_BV & (~equal_BV | (xp.cumulative_sum(xp.astype(equal_BV, xp.int64), axis=1) <= room_B1))
    return xp.where(kept_BV, x_BV, -xp.inf)
