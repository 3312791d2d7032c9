"""Noise words and subsampling: the two uses of a word's frequency."""

from __future__ import annotations

import numpy as np

FULL = 2**32 - 1


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's alias method: row r is kept with chance chances[r]/2³², and otherwise others[r] is taken.

    Walker 1977; built in one pass as Vose 1991 does.
    """
    scaled = weights * (len(weights) / weights.sum())
    others = np.arange(len(weights), dtype=np.int32)
    small, large = np.flatnonzero(scaled < 1).tolist(), np.flatnonzero(scaled >= 1).tolist()
    left = scaled.tolist()
    while small and large:
        low, high = small.pop(), large[-1]
        others[low] = high
        left[high] -= 1 - left[low]
        if left[high] < 1:
            small.append(large.pop())
    chances = np.minimum(np.array(left) * 2.0**32, FULL)
    chances[[*small, *large]] = FULL  # what rounding left over
    return chances.astype(np.uint32), others


def noise_table(counts: np.ndarray, exponent: float) -> tuple[np.ndarray, np.ndarray]:
    """p(w) ∝ c(w)^exponent: Mikolov et al. 2013, arXiv:1310.4546, §2.2."""
    weights = np.where(counts > 0, np.maximum(counts, 1).astype(np.float64) ** exponent, 0)
    return alias_table(weights)


def keep_table(counts: np.ndarray, sample: float) -> np.ndarray:
    """2³² p(w is kept) = √(t/f) + t/f, at most 1: word2vec's program, which departs from the paper's 1 − √(t/f)."""
    if sample <= 0:
        return np.full(len(counts), FULL, np.uint32)
    ratio = sample * counts.sum() / np.maximum(counts, 1)
    return (np.minimum(np.sqrt(ratio) + ratio, 1.0) * FULL).astype(np.uint32)
