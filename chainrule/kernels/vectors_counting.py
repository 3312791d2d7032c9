"""Weights of pairs of words within a window, in a hash table; equals chainrule.vectors.cooccurrence.count_plainly."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.kernels.vectors_reading import UNIT_ENDS

EMPTY = -1
LOAD = 0.6  # of the table, at most


@njit(cache=True, nogil=True)
def count_pairs(ids, row_of, weights, vocabulary_size, keys, values, used, recent, held):
    """Adds weights[d] for each pair of words d apart; stops where the table is full.

    A pair's key is (smaller row) · V + (larger row); a word with itself counts twice, once for each side. `recent` is a
    ring of the last rows, of which held[0] are of this unit: with them the next call goes on. Gives how many ids were
    read, and how many keys there are.
    """
    reach, limit, mask = len(weights) - 1, np.int64(LOAD * len(keys)), len(keys) - 1
    for position in range(len(ids)):
        row = np.int64(row_of[ids[position]])
        if row == UNIT_ENDS:
            held[0] = 0
        elif row >= 0:
            for d in range(1, min(held[0], reach) + 1):
                other = recent[(held[0] - d) % reach]
                key = min(row, other) * vocabulary_size + max(row, other)
                used += add(keys, values, mask, key, weights[d] * (2.0 if row == other else 1.0))
            recent[held[0] % reach] = row
            held[0] += 1
            if used + reach > limit:
                return position + 1, used
    return len(ids), used


@njit(cache=True, nogil=True)
def add(keys, values, mask, key, weight):
    """1 where the key is new."""
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(h >> np.uint64(20)) & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    values[slot] += weight
    if keys[slot] == key:
        return 0
    keys[slot] = key
    return 1


@njit(cache=True, nogil=True)
def refill(keys, values, new_keys, new_values):
    """Puts what a table holds into a larger one."""
    for slot in range(len(keys)):
        if keys[slot] != EMPTY:
            add(new_keys, new_values, len(new_keys) - 1, keys[slot], values[slot])
