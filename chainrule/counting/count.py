"""From token ids to counts: sort the positions of the text by the n-gram that begins there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.counting.counts import Counts, Level, continuation_ids
from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError

JIT_PAYS_FROM = 3_000_000  # tokens or n-grams: below, NumPy is done before Numba has been imported and has its kernels
BYTES_A_TOKEN = 80  # what counting a piece takes at its peak
HIGHEST_ORDER = 24


def check_order(order: int) -> None:
    if not 1 <= order <= HIGHEST_ORDER:
        raise OptionError("model.order", order, f"1 to {HIGHEST_ORDER}", "5 is a good start for words.")


def with_start_marks(ids: np.ndarray, start: int, end: int) -> np.ndarray:
    """`w w </s> w </s>` becomes `<s> w w </s> <s> w </s>`; the first word begins a unit."""
    ids = np.asarray(ids, dtype=np.int32)
    unit_begins = np.concatenate([[0], np.flatnonzero(ids[:-1] == end) + 1])
    return np.insert(ids, unit_begins, start)


def count(ids: np.ndarray, order: int, vocabulary_size: int, *, start: int, end: int) -> Counts:
    """Counts of all n-grams up to `order` in a stream of units that each end with `end`."""
    check_order(order)
    text = with_start_marks(ids, start, end)
    return Counts(_counter(len(text))(text, order, vocabulary_size, start, len(text)), start)


def count_in_pieces(ids: np.ndarray, order: int, vocabulary_size: int, *, start: int, end: int,
                    piece: int, scratch: Scratch) -> Counts:
    """The same counts in bounded memory: pieces of the text are counted one by one, then merged."""
    from chainrule.counting.merge import merge

    check_order(order)
    parts, count_levels = [], _counter(len(ids))
    for low in range(0, len(ids), piece):
        scratch.relax(need=piece * BYTES_A_TOKEN)
        fresh = low == 0 or ids[low - 1] == end
        text = with_start_marks(ids[low:low + piece + order - 1], start, end)
        text = text if fresh else text[1:]
        beyond = with_start_marks(ids[low:low + piece], start, end)  # n-grams that begin later belong to the next piece
        levels = count_levels(text, order, vocabulary_size, start, len(beyond) - (not fresh))
        parts.append(Counts([_moved(level, scratch) for level in levels], start))
    return merge(parts, scratch)


def _counter(tokens: int) -> Callable[[np.ndarray, int, int, int, int], list[Level]]:
    """(text, order, vocabulary size, <s>, limit) → levels of n-grams before `limit`; a kernel if there is much text."""
    if tokens < JIT_PAYS_FROM:
        return count_levels_plainly
    from chainrule.kernels.counting import count_levels

    return count_levels


def count_levels_plainly(text: np.ndarray, order: int, vocabulary_size: int, start: int, limit: int) -> list[Level]:
    """Order by order: an n-gram is an (n−1)-gram and a word, so its rank among all n-grams is that pair's rank."""
    node_at = text.astype(np.int64)  # the rank of the n-gram that begins at each position
    words = np.arange(vocabulary_size, dtype=np.int32)
    occurrences = np.bincount(text[:limit], minlength=vocabulary_size).astype(np.uint32)
    levels = []
    positions = np.arange(len(text))
    for n in range(2, order + 1):
        positions = positions[positions + n - 1 < len(text)]
        positions = positions[text[positions + n - 1] != start]
        pairs = continuation_ids(node_at[positions], vocabulary_size, text[positions + n - 1])
        distinct, rank = np.unique(pairs, return_inverse=True)
        parents, last_words = np.divmod(distinct, vocabulary_size)
        starts = np.searchsorted(parents, np.arange(len(words) + 1)).astype(np.uint32)
        levels.append(Level(words, occurrences, starts))
        words = last_words.astype(np.int32)
        occurrences = np.bincount(rank[positions < limit], minlength=len(words)).astype(np.uint32)
        node_at[positions] = rank
    levels.append(Level(words, occurrences, None))
    return levels


def _moved(level: Level, scratch: Scratch) -> Level:
    """The level in scratch arrays."""
    def move(array: np.ndarray) -> np.ndarray:
        place = scratch.empty(len(array), array.dtype.type)
        place[:] = array
        return place

    return Level(move(level.words), move(level.counts), None if level.starts is None else move(level.starts))
