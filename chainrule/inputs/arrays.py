"""Arrays of different lengths as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def padded(rows: Sequence[np.ndarray], fill: Any = 0, dtype: Any = np.int64) -> np.ndarray:
    """(B, T, …) of rows (t, …): shorter ones are filled up."""
    longest = max(map(len, rows))
    found = np.full((len(rows), longest, *rows[0].shape[1:]), fill, dtype)
    for row, own in zip(found, rows, strict=True):
        row[:len(own)] = own
    return found
