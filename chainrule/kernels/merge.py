"""Merging two sorted levels in one pass and little memory; equals chainrule.counting.merge._merge_level_plainly."""

from __future__ import annotations

import numpy as np

from chainrule.counting.counts import Level
from chainrule.counting.scratch import Scratch
from chainrule.kernels.compiled import kernel
from chainrule.threads import frozen

PIECE = 1 << 12  # contexts merged between two looks at the memory


def merge_level(below: list[Level], here: list[Level], maps: list[np.ndarray], contexts: int,
                scratch: Scratch) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Both parts walk along the merged contexts; where both have one, their sorted continuations are zipped."""
    most = sum(len(level) for level in here)
    starts = scratch.zeros(contexts + 1, np.uint32)
    words, counts = scratch.empty(most, np.int32), scratch.empty(most, np.uint32)
    into = [scratch.empty(len(level), np.uint32) for level in here]
    given = [frozen(np.asarray(array)) for part in (0, 1)
             for array in (maps[part], below[part].starts, here[part].words, here[part].counts)]
    at = np.zeros(3, np.int64)  # the next context of each part, and the merged nodes so far
    for low in range(0, contexts, PIECE):
        _merge(*given, *into, at, low, min(low + PIECE, contexts), starts, words, counts)
        scratch.relax()
    return starts, words[:at[2]], counts[:at[2]], into


@kernel()
def _merge(map_a, starts_a, words_a, counts_a, map_b, starts_b, words_b, counts_b, into_a, into_b,
           at, low, high, starts, words, counts):
    size = at[2]
    for context in range(low, high):
        a = end_a = b = end_b = np.int64(0)
        if at[0] < len(map_a) and map_a[at[0]] == context:
            a, end_a = np.int64(starts_a[at[0]]), np.int64(starts_a[at[0] + 1])
            at[0] += 1
        if at[1] < len(map_b) and map_b[at[1]] == context:
            b, end_b = np.int64(starts_b[at[1]]), np.int64(starts_b[at[1] + 1])
            at[1] += 1
        while a < end_a or b < end_b:
            take_a = a < end_a and (b >= end_b or words_a[a] <= words_b[b])
            take_b = b < end_b and (a >= end_a or words_b[b] <= words_a[a])
            counts[size] = 0
            if take_a:
                words[size] = words_a[a]
                counts[size] += counts_a[a]
                into_a[a] = size
                a += 1
            if take_b:
                words[size] = words_b[b]
                counts[size] += counts_b[b]
                into_b[b] = size
                b += 1
            size += 1
        starts[context + 1] = size
    at[2] = size
