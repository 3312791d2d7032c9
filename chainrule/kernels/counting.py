"""Counting by repeated stable bucket sorts; equals chainrule.counting.count.count_levels_plainly."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.counting.counts import Level


def count_levels(text: np.ndarray, order: int, vocabulary_size: int, start: int, limit: int) -> list[Level]:
    """An n-gram at i is the word at i and the (n−1)-gram at i+1: positions sorted for n−1 are one bucket pass from sorted for n."""
    occurrences = np.bincount(text[:limit], minlength=vocabulary_size).astype(np.uint32)
    words = np.arange(vocabulary_size, dtype=np.int32)
    positions = _by_word(text, vocabulary_size)
    node_at, next_node_at = text.astype(np.int32), np.empty(len(text), np.int32)
    levels = []
    for n in range(2, order + 1):
        positions = _one_word_longer(text, positions, vocabulary_size, start)
        found, times, starts = _name_nodes(text, positions, node_at, next_node_at, n, len(words), limit)
        levels.append(Level(words, occurrences, starts))
        words, occurrences = found, times
        node_at, next_node_at = next_node_at, node_at
    levels.append(Level(words, occurrences, None))
    return levels


@njit(cache=True, nogil=True)
def _by_word(text, vocabulary_size):
    """Positions in the order of the word there."""
    slot = np.zeros(vocabulary_size + 1, np.int64)
    for i in range(len(text)):
        slot[text[i] + 1] += 1
    for w in range(vocabulary_size):
        slot[w + 1] += slot[w]
    positions = np.empty(len(text), np.int32)
    for i in range(len(text)):
        positions[slot[text[i]]] = i
        slot[text[i]] += 1
    return positions


@njit(cache=True, nogil=True)
def _one_word_longer(text, positions, vocabulary_size, start):
    """Positions sorted by (n−1)-gram in, by n-gram out; a position whose n-gram would cross a <s> is dropped."""
    slot = np.zeros(vocabulary_size + 1, np.int64)
    for j in range(len(positions)):
        i = positions[j]
        if i > 0 and text[i] != start:
            slot[text[i - 1] + 1] += 1
    for w in range(vocabulary_size):
        slot[w + 1] += slot[w]
    longer = np.empty(slot[vocabulary_size], np.int32)
    for j in range(len(positions)):
        i = positions[j]
        if i > 0 and text[i] != start:
            word = text[i - 1]
            longer[slot[word]] = i - 1
            slot[word] += 1
    return longer


@njit(cache=True, nogil=True)
def _name_nodes(text, positions, node_at, next_node_at, n, contexts, limit):
    """Numbers the distinct n-grams along the sorted positions: their last words, counts, and where each context's begin."""
    distinct = 0
    word, tail = -1, -1
    for j in range(len(positions)):
        i = positions[j]
        if text[i] != word or node_at[i + 1] != tail:
            word, tail = text[i], node_at[i + 1]
            distinct += 1
        next_node_at[i] = distinct - 1
    words = np.empty(distinct, np.int32)
    counts = np.zeros(distinct, np.uint32)
    starts = np.zeros(contexts + 1, np.uint32)
    last = -1
    for j in range(len(positions)):
        i = positions[j]
        node = next_node_at[i]
        if i < limit:
            counts[node] += 1
        if node != last:
            words[node] = text[i + n - 1]
            starts[node_at[i] + 1] += 1
            last = node
    for h in range(contexts):
        starts[h + 1] += starts[h]
    return words, counts, starts
