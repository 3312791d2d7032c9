"""Counting by repeated stable bucket sorts; equals chainrule.counting.count.count_levels_plainly."""

from __future__ import annotations

import numpy as np

from chainrule.counting.counts import Level
from chainrule.kernels.compiled import kernel


def count_levels(text: np.ndarray, order: int, vocabulary_size: int, start: int, limit: int) -> list[Level]:
    """An n-gram is a word and the (n−1)-gram after it: one bucket pass takes positions sorted for n−1 to n."""
    occurrences = np.bincount(text[:limit], minlength=vocabulary_size).astype(np.uint32)
    words = np.arange(vocabulary_size, dtype=np.int32)
    positions = _by_word(text, vocabulary_size)
    node_at, next_node_at = text.astype(np.int32), np.empty(len(text), np.int32)
    levels = []
    for n in range(2, order + 1):
        positions = _one_word_longer(text, positions, n, vocabulary_size, start)
        found, times, starts = _name_nodes(text, positions, node_at, next_node_at, n, len(words), limit)
        levels.append(Level(words, occurrences, starts))
        words, occurrences = found, times
        node_at, next_node_at = next_node_at, node_at
    levels.append(Level(words, occurrences, None))
    return levels


@kernel()
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


@kernel()
def _one_word_longer(text, positions, n, vocabulary_size, start):
    """Positions sorted by (n−1)-gram in, by n-gram out; a position whose n-gram would cross a <s> is dropped."""
    slot = np.zeros(vocabulary_size + 1, np.int64)
    ahead = 0  # tokens from here to the end of the unit
    for i in range(len(text) - 1, -1, -1):
        ahead += 1
        if ahead >= n:
            slot[text[i] + 1] += 1
        if text[i] == start:
            ahead = 0
    for w in range(vocabulary_size):
        slot[w + 1] += slot[w]
    longer = np.empty(slot[vocabulary_size], np.int32)
    for j in range(len(positions)):
        i = positions[j] - 1
        if i >= 0 and text[i + 1] != start:
            word = text[i]
            longer[slot[word]] = i
            slot[word] += 1
    return longer


@kernel()
def _name_nodes(text, positions, node_at, next_node_at, n, contexts, limit):
    """Numbers the distinct n-grams along the sorted positions: last words, counts, where each context's begin."""
    words, counts = np.empty(len(positions), np.int32), np.zeros(len(positions), np.uint32)
    starts = np.zeros(contexts + 1, np.uint32)
    word, tail, node = -1, -1, -1
    for j in range(len(positions)):
        i = positions[j]
        if text[i] != word or node_at[i + 1] != tail:
            word, tail = text[i], node_at[i + 1]
            node += 1
            words[node] = text[i + n - 1]
            starts[node_at[i] + 1] += 1
        next_node_at[i] = node
        if i < limit:
            counts[node] += 1
    for h in range(contexts):
        starts[h + 1] += starts[h]
    return words[:node + 1].copy(), counts[:node + 1].copy(), starts
