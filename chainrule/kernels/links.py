"""Suffix links by walking two sorted lists; equals chainrule.counting.links._links_plainly."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, parallel=True)
def links(words, starts, shorter, target_words, target_starts):
    """The continuations of h are among those of its suffix, both sorted: gallop through the longer list."""
    found = np.empty(len(words), np.uint32)
    for h in prange(len(starts) - 1):
        low = np.int64(target_starts[shorter[h]])
        end = np.int64(target_starts[np.int64(shorter[h]) + 1])
        for u in range(np.int64(starts[h]), np.int64(starts[h + 1])):
            word = words[u]
            step = 1
            while low + step < end and target_words[low + step] <= word:
                low += step
                step += step
            high = min(low + step, end)
            while high - low > 1:
                middle = (low + high) >> 1
                if target_words[middle] <= word:
                    low = middle
                else:
                    high = middle
            found[u] = low
    return found
