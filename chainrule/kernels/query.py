"""Scoring on all cores; equals chainrule.counting.query.score_stream_plainly."""

from __future__ import annotations

import numpy as np

from chainrule.counting.quantized import Quantized
from chainrule.counting.table import Numbers, Table
from chainrule.kernels.compiled import kernel
from chainrule.threads import frozen, side_by_side

BLOCK = 1 << 11  # positions worked on at a time, one order after the other: their nodes stay in the cache
PIECE = 1 << 16  # positions handed to a thread at a time


def score_stream(table: Table, text: np.ndarray) -> np.ndarray:
    """Within a block all searches of one order are independent, so the processor overlaps their cache misses."""
    text = frozen(np.ascontiguousarray(text, dtype=np.int32))
    if len(text) and not 0 <= text.min() <= text.max() < table.vocabulary_size:
        raise IndexError(f"an id is outside the vocabulary of {table.vocabulary_size}")
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


@kernel()
def _score(text, start, end, first, words, log_probs, prob_books, backoffs, backoff_books, starts, total, low, high):
    """Scores positions low … high−1; begins `order`−1 positions earlier, to know the contexts."""
    orders = len(words)
    nodes = np.full((orders + 1, BLOCK + 1), -1, np.int64)  # column i + 1: the n-grams that end at i; column 0: before
    begin = max(0, low - orders)
    while begin < high:
        size = min(BLOCK, high - begin)
        nodes[0, 1:size + 1] = text[begin:begin + size]
        for k in range(orders):
            _extend(words[k], starts[k], nodes[k], nodes[k + 1], text, begin, size, end, start if k == 0 else -1)
        for i in range(max(0, low - begin), size):
            fresh = begin + i == 0 or text[begin + i - 1] == end
            value, k = np.float32(0), orders
            while k > 0 and nodes[k, i + 1] < 0:  # down to the longest n-gram that is stored
                k -= 1
                context = nodes[k, i] if not fresh else start if k == 0 else -1
                if context >= 0:
                    value += _number(backoffs[k], backoff_books, k, context)
            if k > 0:
                total[begin + i] = value + _number(log_probs[k - 1], prob_books, k - 1, nodes[k, i + 1])
            else:
                total[begin + i] = value + first[text[begin + i]]
        for k in range(orders + 1):
            nodes[k, 0] = nodes[k, size]
        begin += size


@kernel()
def _number(values, books, k, i):
    """A float, or a code to be looked up: which one is settled when the kernel is compiled."""
    if books is None:
        return values[i]
    return books[k][values[i]]


@kernel()
def _extend(words, starts, contexts, nodes, text, begin, size, end, fresh):
    """nodes[i+1] = the continuation of contexts[i] by the word at i, or −1; where a unit begins the context is `fresh`.

    Where to look is fetched for the whole block before anything is searched: those cache misses overlap. Indices are
    unsigned, as Numba would look at each signed one for whether it counts from the end.
    """
    if len(words) == 0:  # the text was shorter than the order
        nodes[1:size + 1] = -1
        return
    one, lows, counts = np.uint64(1), np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    for i in range(size):
        context = fresh if begin + i == 0 or text[begin + i - 1] == end else contexts[i]
        known = context >= 0
        at = np.uint64(context) if known else np.uint64(0)
        lows[i] = starts[at] if known else 0
        counts[i] = starts[at + one] - starts[at] if known else 0
    for i in range(size):
        low, left, word = lows[i], counts[i], text[begin + i]
        while left > one:  # halving without a branch: the last entry ≤ word
            half = left >> one
            low = low + half if words[low + half] <= word else low
            left -= half
        nodes[i + 1] = np.int64(low) if (words[low] == word) & (left != 0) else -1
