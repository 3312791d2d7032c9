"""Exact search: every vector is looked at, by BLAS, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BLOCK = 1 << 16  # rows at a time: a memory map of any size passes through a few megabytes


def norms(table: np.ndarray) -> np.ndarray:
    """(V,) the length of each row; 1 for a row of zeros, so that it can be divided by."""
    found = np.empty(len(table), np.float32)
    for low in range(0, len(table), BLOCK):
        block = table[low : low + BLOCK]
        found[low : low + BLOCK] = np.sqrt(np.einsum("vd,vd->v", block, block))
    found[found == 0] = 1
    return found


def cosines(table: np.ndarray, lengths: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """(V,) or (V, Q): the cosine of each row with each aim, (D,) or (Q, D)."""
    aims = np.asarray(aims, np.float32)
    length = np.linalg.norm(aims, axis=-1, keepdims=True)
    unit = aims / np.where(length == 0, 1, length)
    found = np.empty((len(table), *aims.shape[:-1]), np.float32)
    for low in range(0, len(table), BLOCK):
        found[low : low + BLOCK] = table[low : low + BLOCK] @ unit.T
    found /= lengths[: len(table)].reshape(-1, *[1] * (aims.ndim - 1))
    return found


def largest(scores: np.ndarray, count: int, left_out: Sequence[int] = ()) -> list[int]:
    """The rows with the largest scores, but for those left out; ties to the lower row."""
    scores = scores.copy()
    scores[[row for row in left_out if row < len(scores)]] = -np.inf
    count = max(0, min(count, len(scores) - len(set(left_out))))
    if count == 0:
        return []
    limit = np.partition(scores, len(scores) - count)[len(scores) - count]
    found = np.flatnonzero(scores >= limit)
    return found[np.argsort(-scores[found], kind="stable")][:count].tolist()
