"""Phrases: pairs of words that co-occur more often than by chance become one word, joined by an underscore."""

from __future__ import annotations

import numpy as np

from chainrule.vectors.text import UNIT_ENDS, Text, listed, numbered, spellings

STOP = 2  # the id of a unit's end in a list of words


def join_phrases(text: Text, *, threshold: float, discount: float, min_count: int) -> tuple[Text, int]:
    """The text with its phrases joined, from the left, and how many different ones there are.

    score(a, b) = (c(ab) − δ) / (c(a) c(b)) · N,   joined where it is above the threshold
    Mikolov et al. 2013, arXiv:1310.4546, eq. 6; times the number of words N, as their program word2phrase has it.
    """
    rows = text.row_of[text.ids]
    pairs, seen = _pairs(rows, text.vocabulary_size)
    first, second = pairs // text.vocabulary_size, pairs % text.vocabulary_size
    chance = text.counts[first].astype(np.float64) * text.counts[second]
    joined = pairs[((seen - discount) / chance * text.tokens > threshold) & (seen >= min_count)]
    rows = _joined(rows, joined, text.vocabulary_size)
    words = spellings(text.tokenizer)
    names = words + [f"{words[a]}_{words[b]}" for a, b in zip(joined // len(words), joined % len(words), strict=True)]
    return _renumbered(rows, names, min_count), len(joined)


def _pairs(rows: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Different pairs of neighbors, as first · V + second, and how often each occurs."""
    here, after = rows[:-1].astype(np.int64), rows[1:]
    return np.unique((here * size + after)[(here >= 0) & (after >= 0)], return_counts=True)


def _joined(rows: np.ndarray, phrases: np.ndarray, size: int) -> np.ndarray:
    """Rows in which phrase p is `size` + p; of pairs that overlap, the first is joined."""
    if not len(phrases):
        return rows
    here, after = rows[:-1].astype(np.int64), rows[1:]
    keys = np.where((here >= 0) & (after >= 0), here * size + after, -1)
    which = np.minimum(np.searchsorted(phrases, keys), len(phrases) - 1)
    starts = np.flatnonzero(phrases[which] == keys)
    chosen, last = [], -2
    for start in starts.tolist():
        if start > last + 1:
            chosen.append(start)
            last = start
    out = rows.astype(np.int64)
    out[chosen] = size + which[chosen]
    return np.delete(out, np.array(chosen, np.int64) + 1)


def _renumbered(rows: np.ndarray, names: list[str], min_count: int) -> Text:
    """A text over the words that are still frequent enough, most frequent first."""
    counts = np.bincount(rows[rows >= 0], minlength=len(names))
    order = np.lexsort((np.arange(len(names)), -counts))
    order = order[counts[order] >= max(min_count, 1)]
    id_of = np.zeros(len(names) + 2, np.int64)  # the last two are the rows −2 and −1
    id_of[order] = 3 + np.arange(len(order))
    id_of[UNIT_ENDS] = STOP
    ids = id_of[rows].astype(np.uint16 if len(order) + 3 <= 1 << 16 else np.int32)
    return numbered(ids, listed([names[row].encode() for row in order.tolist()]))
