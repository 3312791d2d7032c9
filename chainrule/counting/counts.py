"""Counts: every n-gram of a text once, with how often it occurs, as a trie in lexicographic order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Level:
    """All n-grams of one order: node u ends in words[u]; starts[u] … starts[u+1]−1 continue it, one level up."""

    words: np.ndarray  # int32 (n,)
    counts: np.ndarray  # uint32 (n,): occurrences in the text
    starts: np.ndarray | None  # uint32 (n + 1,); None at the top order

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Counts:
    """n-gram counts of orders 1 … N. The nodes of order 1 are the word ids themselves.

    Each unit of text is read as `<s> w₁ … w_n </s>`; an n-gram has at most one <s>, in first place.
    """

    levels: list[Level]
    start: int

    @property
    def order(self) -> int:
        return len(self.levels)

    @property
    def vocabulary_size(self) -> int:
        return len(self.levels[0])

    @property
    def tokens(self) -> int:
        """Predicted tokens: all but the start marks."""
        return int(self.levels[0].counts.sum(dtype=np.int64)) - int(self.levels[0].counts[self.start])

    def begins(self, order: int) -> tuple[int, int]:
        """The range of nodes of an order whose first word is <s>: they lie together, as the order is lexicographic."""
        low, high = self.start, self.start + 1
        for level in self.levels[: order - 1]:
            assert level.starts is not None
            low, high = int(level.starts[low]), int(level.starts[high])
        return low, high


def context_chunks(starts: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of contexts that have together about `most` continuations."""
    low, last = 0, len(starts) - 1
    while low < last:
        high = int(np.searchsorted(starts, int(starts[low]) + most, side="right")) - 1
        high = min(max(high, low + 1), last)
        yield low, high
        low = high


def continuation_ids(nodes: np.ndarray, vocabulary_size: int, words: np.ndarray) -> np.ndarray:
    """One sortable int64 for each pair of a context node and a word."""
    return nodes.astype(np.int64) * vocabulary_size + words
