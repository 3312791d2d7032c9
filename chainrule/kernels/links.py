"""Suffix links by walking two sorted lists; equals chainrule.counting.links._links_plainly."""

from __future__ import annotations

import numpy as np

from chainrule.counting.scratch import Scratch
from chainrule.kernels.compiled import kernel
from chainrule.threads import frozen, side_by_side

PIECE = 1 << 16  # contexts between two looks at the memory


def links(words: np.ndarray, starts: np.ndarray, shorter: np.ndarray, target_words: np.ndarray,
          target_starts: np.ndarray, scratch: Scratch) -> np.ndarray:
    found = scratch.empty(len(words), np.uint32)
    given = [frozen(a) for a in (words, starts, shorter, target_words, target_starts)]

    def work(low: int) -> None:
        _links(*given, found, low, min(low + PIECE, len(starts) - 1))
        scratch.relax()

    side_by_side(work, range(0, len(starts) - 1, PIECE))
    return found


def count_links(links: np.ndarray, targets: int, scratch: Scratch) -> np.ndarray:
    """How many links point at each target; equals np.bincount."""
    times, links = scratch.zeros(targets, np.uint32), frozen(links)
    for low in range(0, len(links), PIECE):
        _count_links(links[low:low + PIECE], times)
        scratch.relax()
    return times


@kernel()
def _count_links(links, times):
    for link in links:
        times[link] += 1


@kernel()
def _links(words, starts, shorter, target_words, target_starts, found, low_context, high_context):
    """The continuations of h are among those of its suffix, both sorted: gallop through the longer list."""
    for h in range(low_context, high_context):
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
