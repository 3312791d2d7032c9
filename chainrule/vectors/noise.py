"""Noise words and subsampling: the two uses of a word's frequency."""

from __future__ import annotations

import numpy as np

FULL = 2**32 - 1


def noise_table(counts: np.ndarray, exponent: float) -> tuple[np.ndarray, np.ndarray]:
    """Running sums of p(w) ∝ c(w)^exponent: Mikolov et al. 2013, arXiv:1310.4546, §2.2; and where to begin a search."""
    weights = np.where(counts > 0, np.maximum(counts, 1).astype(np.float64) ** exponent, 0)
    sums = np.cumsum(weights) / weights.sum()
    sums[np.flatnonzero(counts)[-1] :] = 1.0
    cells = 1 << max(8, min(22, len(counts).bit_length() + 1))
    return sums, np.searchsorted(sums, np.arange(cells) / cells, side="right").astype(np.int32)


def keep_table(counts: np.ndarray, sample: float) -> np.ndarray:
    """2³² p(w is kept) = √(t/f) + t/f, at most 1: word2vec's program, which departs from the paper's 1 − √(t/f)."""
    if sample <= 0:
        return np.full(len(counts), FULL, np.uint32)
    ratio = sample * counts.sum() / np.maximum(counts, 1)
    return (np.minimum(np.sqrt(ratio) + ratio, 1.0) * FULL).astype(np.uint32)
