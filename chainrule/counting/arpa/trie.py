"""The n-grams of a file as sorted keys, order by order, and what is put in where a context is missing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chainrule.counting.counts import continuation_ids
from chainrule.counting.table import Table, TableLevel


@dataclass(frozen=True)
class Keyed:
    """One order: key = node of the context · V + last word, ascending; for order 1 the word itself."""

    keys: np.ndarray  # int64
    log_probs: np.ndarray  # float32, ln
    backoffs: np.ndarray  # float32, ln


@dataclass
class Trie:
    """The orders read so far; every n-gram's context is there."""

    vocabulary_size: int
    levels: list[Keyed] = field(default_factory=list)

    def find(self, grams: np.ndarray) -> np.ndarray:
        """The node of each row of ids, −1 where it is not there; a search for each order."""
        nodes = grams[:, 0].astype(np.int64)
        for n in range(2, grams.shape[1] + 1):
            keys = self.levels[n - 1].keys
            wanted = continuation_ids(nodes, self.vocabulary_size, grams[:, n - 1])
            found = np.searchsorted(keys, wanted)
            inside = found < len(keys)
            inside[inside] = keys[found[inside]] == wanted[inside]
            nodes = np.where(inside & (nodes >= 0), found, -1)
        return nodes

    def insert(self, grams: np.ndarray) -> np.ndarray:
        """Puts n-grams in that the file lacks, as if it had backed off to them: p by back-off, γ = 1.

        No probability changes by it. Returns where the nodes of this order have moved.
        """
        n = grams.shape[1]
        contexts = self.find(grams[:, :-1])
        if (contexts < 0).any():
            moved = self.insert(np.unique(grams[contexts < 0, :-1], axis=0))
            owners, words = np.divmod(self.levels[n - 1].keys, self.vocabulary_size)
            level = self.levels[n - 1]
            self.levels[n - 1] = Keyed(continuation_ids(moved[owners], self.vocabulary_size, words),
                                       level.log_probs, level.backoffs)
            contexts = self.find(grams[:, :-1])
        level, added = self.levels[n - 1], continuation_ids(contexts, self.vocabulary_size, grams[:, -1])
        place = np.searchsorted(level.keys, np.sort(added))
        by_key = np.argsort(added)
        self.levels[n - 1] = Keyed(np.insert(level.keys, place, added[by_key]),
                                   np.insert(level.log_probs, place, self.backed_off(grams)[by_key]),
                                   np.insert(level.backoffs, place, 0.0))
        return np.searchsorted(self.levels[n - 1].keys, level.keys)

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
        """The table; each order's keys give the words of that order and the starts of the one below."""
        built: list[TableLevel] = []
        starts = None
        while self.levels:  # frees the keys of each order in turn
            level = self.levels.pop()
            owners, words = np.divmod(level.keys, self.vocabulary_size)
            backoffs = level.backoffs if built else None
            built.append(TableLevel(words.astype(np.int32), level.log_probs, backoffs, starts))
            if self.levels:
                sizes = np.bincount(owners, minlength=len(self.levels[-1].keys))
                starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        return Table(built[::-1], start, end, unknown)
