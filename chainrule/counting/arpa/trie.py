"""The n-grams of a file as sorted keys, order by order, and what is put in where a context is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from chainrule.counting.counts import continuation_ids
from chainrule.counting.table import Table, TableLevel


@dataclass(frozen=True)
class Keyed:
    """One order: key = node of the context · V + last word, ascending; for order 1 the word itself."""

    keys: np.ndarray  # int64
    starts: np.ndarray  # uint32 (contexts + 1,): the first key of each context, and the number of keys
    log_probs: np.ndarray  # float32, ln
    backoffs: np.ndarray  # float32, ln


Search = Callable[[Keyed, np.ndarray, np.ndarray, int], np.ndarray]


def search_plainly(level: Keyed, contexts: np.ndarray, words: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """The node of each context and word, −1 where there is none; `kernels.arpa_read.search` gives the same."""
    wanted = continuation_ids(contexts, vocabulary_size, words)
    found = np.searchsorted(level.keys, wanted)
    inside = (found < len(level.keys)) & (contexts >= 0)
    inside[inside] = level.keys[found[inside]] == wanted[inside]
    return np.where(inside, found, -1)


@dataclass
class Trie:
    """The orders read so far; every n-gram's context is there."""

    vocabulary_size: int
    search: Search = search_plainly
    levels: list[Keyed] = field(default_factory=list)

    def keyed(self, order: int, keys: np.ndarray, log_probs: np.ndarray, backoffs: np.ndarray) -> Keyed:
        """A level of this order from ascending keys, whose contexts are the nodes of the order below."""
        sizes = np.bincount(keys // self.vocabulary_size, minlength=len(self.levels[order - 2].keys))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        return Keyed(keys, starts, log_probs, backoffs)

    def find(self, grams: np.ndarray) -> np.ndarray:
        """The node of each row of ids, −1 where it is not there; a search for each order."""
        nodes = grams[:, 0].astype(np.int64)
        for n in range(2, grams.shape[1] + 1):
            nodes = self.search(self.levels[n - 1], nodes, grams[:, n - 1], self.vocabulary_size)
        return nodes

    def insert(self, grams: np.ndarray) -> np.ndarray:
        """Inserts n-grams that the file lacks: p by back-off, γ = 1.

        This changes no probability. Returns where the nodes of this order have moved.
        """
        n, size = grams.shape[1], self.vocabulary_size
        level, contexts = self.levels[n - 1], self.find(grams[:, :-1])
        keys = level.keys
        if (contexts < 0).any():
            moved = self.insert(np.unique(grams[contexts < 0, :-1], axis=0))
            owners, words = np.divmod(keys, size)
            keys = continuation_ids(moved[owners], size, words)
            self.levels[n - 1] = self.keyed(n, keys, level.log_probs, level.backoffs)
            contexts = self.find(grams[:, :-1])
        added = continuation_ids(contexts, size, grams[:, -1])
        by_key = np.argsort(added)
        place = np.searchsorted(keys, added[by_key])
        log_probs = np.insert(level.log_probs, place, self.backed_off(grams)[by_key])
        longer = np.insert(keys, place, added[by_key])
        self.levels[n - 1] = self.keyed(n, longer, log_probs, np.insert(level.backoffs, place, 0.0))
        return np.searchsorted(longer, keys)

    def backed_off(self, grams: np.ndarray) -> np.ndarray:
        """float32 ln p(w_n | w₁ … w_{n−1}) from what is stored."""
        total, open_ = np.zeros(len(grams)), np.ones(len(grams), bool)
        for first in range(grams.shape[1]):
            nodes = self.find(grams[:, first:])
            stored = open_ & (nodes >= 0)
            total[stored] += self.levels[grams.shape[1] - first - 1].log_probs[nodes[stored]]
            open_ &= ~stored
            if open_.any():
                contexts = self.find(grams[:, first:-1])
                weighed = open_ & (contexts >= 0)
                total[weighed] += self.levels[grams.shape[1] - first - 2].backoffs[contexts[weighed]]
        return total.astype(np.float32)

    def table(self, start: int, end: int, unknown: int) -> Table:
        """The table: words from the keys, and starts from one order above."""
        built: list[TableLevel] = []
        starts = None
        while self.levels:  # frees the keys of each order in turn
            level = self.levels.pop()
            words = (level.keys % self.vocabulary_size).astype(np.int32)
            built.append(TableLevel(words, level.log_probs, level.backoffs if built else None, starts))
            starts = level.starts
        return Table(built[::-1], start, end, unknown)
