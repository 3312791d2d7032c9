"""Scoring on all cores; equals chainrule.counting.query.score_stream_plainly."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.counting.quantized import Quantized
from chainrule.counting.table import Numbers, Table
from chainrule.threads import frozen, side_by_side

BLOCK = 1 << 13  # positions worked on at a time, one order after the other: their nodes stay in the cache
LANES = 16  # searches that go in step
PIECE = 32 * BLOCK  # positions handed to a thread at a time


def score_stream(table: Table, text: np.ndarray) -> np.ndarray:
    """Within a block all searches of one order are independent, so the processor overlaps their cache misses."""
    text = frozen(np.ascontiguousarray(text, dtype=np.int32))
    total = np.empty(len(text), np.float32)
    if table.order == 1:
        return table.levels[0].log_probs[text]
    first = frozen(table.levels[0].log_probs[:])
    words = tuple(frozen(level.words) for level in table.levels[1:])
    log_probs, prob_books = _apart([level.log_probs for level in table.levels[1:]])
    backoffs, backoff_books = _apart([level.backoffs for level in table.levels[:-1]])  # type: ignore[misc]
    starts = tuple(frozen(level.starts) for level in table.levels[:-1])  # type: ignore[arg-type]

    def work(low: int) -> None:
        high = min(low + PIECE, len(text))
        _score(text, table.start, table.end, first, words, log_probs, prob_books, backoffs, backoff_books, starts,
               total, low, high)

    side_by_side(work, range(0, len(text), PIECE))
    return total


def _apart(levels: list[Numbers]) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...] | None]:
    """Numbers and no codebooks, or codes and their codebooks."""
    coded = [values for values in levels if isinstance(values, Quantized)]
    if len(coded) == len(levels):
        return tuple(frozen(values.codes) for values in coded), tuple(frozen(values.book) for values in coded)
    return tuple(frozen(values) for values in levels if isinstance(values, np.ndarray)), None


@njit(cache=True, nogil=True)
def _score(text, start, end, first, words, log_probs, prob_books, backoffs, backoff_books, starts, total, low, high):
    """Scores positions low … high−1; begins `order`−1 positions earlier, to know the contexts."""
    orders = len(words)
    nodes = np.full((orders + 1, BLOCK + 1), -1, np.int64)  # column 0 is the position before the block
    nodes[0, 0] = start
    begin = max(0, low - orders)
    while begin < high:
        size = min(BLOCK, high - begin)
        for i in range(size):
            word = text[begin + i]
            nodes[0, i + 1] = start if word == end else word
            if begin + i >= low:
                total[begin + i] = first[word]
        for k in range(orders):
            _extend(words[k], starts[k], nodes[k], nodes[k + 1], text, begin, size)
            for i in range(size):
                if begin + i >= low:
                    node, context = nodes[k + 1, i + 1], nodes[k, i]
                    if node >= 0:
                        total[begin + i] = _number(log_probs[k], prob_books, k, node)
                    elif context >= 0:
                        total[begin + i] += _number(backoffs[k], backoff_books, k, context)
                if text[begin + i] == end:
                    nodes[k + 1, i + 1] = -1  # what comes next begins a unit
        for k in range(orders + 1):
            nodes[k, 0] = nodes[k, size]
        begin += size


@njit(cache=True, nogil=True)
def _number(values, books, k, i):
    """A float, or a code to be looked up: which one is settled when the kernel is compiled."""
    if books is None:
        return values[i]
    return books[k][values[i]]


@njit(cache=True, nogil=True)
def _extend(words, starts, contexts, nodes, text, begin, size):
    """nodes[i+1] = the continuation of contexts[i] by the word at i, or −1.

    Searches go in step, LANES at a time: their cache misses overlap, where one search after the other would wait.
    """
    low, left = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for first in range(0, size, LANES):
        lanes, longest = min(LANES, size - first), 0
        for j in range(lanes):
            context = contexts[first + j]
            low[j], left[j] = 0, 0
            if context >= 0:
                low[j] = starts[context]
                left[j] = np.int64(starts[context + 1]) - low[j]
                longest = max(longest, left[j])
        while longest > 1:  # halving without a branch: the last entry ≤ word
            for j in range(lanes):
                half = left[j] >> 1
                low[j] += half if words[low[j] + half] <= text[begin + first + j] else 0
                left[j] -= half
            longest -= longest >> 1
        for j in range(lanes):
            found = left[j] > 0 and words[low[j]] == text[begin + first + j]
            nodes[first + j + 1] = low[j] if found else -1
