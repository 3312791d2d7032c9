"""From token ids to counts: sort the positions of the text by the n-gram that begins there."""

from __future__ import annotations

import numpy as np

from chainrule.counting.counts import Counts, Level, continuation_ids
from chainrule.errors import OptionError

JIT_PAYS_FROM = 3_000_000  # tokens: below, NumPy is done before Numba has been imported and its kernels loaded
HIGHEST_ORDER = 8


def check_order(order: int) -> None:
    if not 1 <= order <= HIGHEST_ORDER:
        raise OptionError("model.order", order, f"1 to {HIGHEST_ORDER}", "5 is a good start for words.")


def with_start_marks(ids: np.ndarray, start: int, end: int) -> np.ndarray:
    """`w w </s> w </s>` becomes `<s> w w </s> <s> w </s>`."""
    ids = np.asarray(ids, dtype=np.int32)
    unit_begins = np.concatenate([[0], np.flatnonzero(ids == end)[:-1] + 1]) if len(ids) else np.zeros(0, np.int64)
    return np.insert(ids, unit_begins, start)


def count(ids: np.ndarray, order: int, vocabulary_size: int, *, start: int, end: int) -> Counts:
    """Counts of all n-grams up to `order` in a stream of units that each end with `end`."""
    check_order(order)
    text = with_start_marks(ids, start, end)
    if len(text) >= JIT_PAYS_FROM:
        from chainrule.kernels.counting import count_levels

        return Counts(count_levels(text, order, vocabulary_size, start), start)
    return Counts(count_levels_plainly(text, order, vocabulary_size, start), start)


def count_levels_plainly(text: np.ndarray, order: int, vocabulary_size: int, start: int) -> list[Level]:
    """Order by order: an n-gram is an (n−1)-gram and one more word, so its rank among all n-grams is the rank of that pair."""
    node_at = text.astype(np.int64)  # the rank of the n-gram that begins at each position
    words = np.arange(vocabulary_size, dtype=np.int32)
    occurrences = np.bincount(text, minlength=vocabulary_size).astype(np.uint32)
    levels = []
    positions = np.arange(len(text))
    for n in range(2, order + 1):
        positions = positions[positions + n - 1 < len(text)]
        positions = positions[text[positions + n - 1] != start]
        pairs = continuation_ids(node_at[positions], vocabulary_size, text[positions + n - 1])
        distinct, rank, times = np.unique(pairs, return_inverse=True, return_counts=True)
        parents, last_words = np.divmod(distinct, vocabulary_size)
        starts = np.searchsorted(parents, np.arange(len(words) + 1)).astype(np.uint32)
        levels.append(Level(words, occurrences, starts))
        words, occurrences = last_words.astype(np.int32), times.astype(np.uint32)
        node_at[positions] = rank
    levels.append(Level(words, occurrences, None))
    return levels
