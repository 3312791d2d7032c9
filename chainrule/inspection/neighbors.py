"""Neighbors of embeddings: which tokens a model has put near the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

AT_ONCE = 1 << 23  # similarities in memory at a time


def neighbors(table_VD: np.ndarray, ids: Sequence[int], *, count: int = 5, leave_out: Sequence[int] = ()
              ) -> list[list[tuple[int, float]]]:
    """For each id the `count` nearest other tokens by the cosine of their vectors, nearest first.

    `leave_out` are never listed: <s>, for example, is never predicted, so its vector means nothing.
    """
    unit_VD = table_VD / np.maximum(np.linalg.norm(table_VD, axis=1, keepdims=True), 1e-30)
    rows = max(1, AT_ONCE // len(unit_VD))
    found = []
    for first in range(0, len(ids), rows):
        some = list(ids[first:first + rows])
        cosine_RV = unit_VD[some] @ unit_VD.T
        cosine_RV[np.arange(len(some)), some] = -np.inf
        cosine_RV[:, list(leave_out)] = -np.inf
        for row in cosine_RV:
            best = np.argsort(-row, kind="stable")[:count]
            found.append([(int(id), float(row[id])) for id in best if row[id] > -np.inf])
    return found
