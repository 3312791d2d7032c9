"""Minibatches: the rows of arrays in a random order, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chainrule.engine.tensor import Array
from chainrule.errors import OptionError, UsageError


def minibatches(*arrays: Array, size: int, random: np.random.Generator | None = None) -> Iterator[tuple[Array, ...]]:
    """Each row of all arrays once, in random order (in their own order without a generator); the last may be smaller.

    for x, y in minibatches(images, labels, size=64, random=random): …
    """
    if size < 1:
        raise OptionError("minibatches.size", size, "at least 1")
    if len({len(each) for each in arrays}) != 1:
        raise UsageError(f"minibatches was given arrays of {', '.join(str(len(each)) for each in arrays)} rows, "
                         "expected as many in each.")
    rows = len(arrays[0])
    order = np.arange(rows) if random is None else random.permutation(rows)
    for start in range(0, rows, size):
        yield tuple(each[order[start:start + size]] for each in arrays)
