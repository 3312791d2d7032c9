"""The n-gram language model: its state is the nodes of the last words, one for each length of context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.counting.paths import path_of
from chainrule.counting.query import Scorer
from chainrule.counting.table import Table, find_continuations
from chainrule.watching import note, watched


@dataclass(frozen=True)
class NGramState:
    """`nodes[b, n−1]` is the node of the last n words that row b has read, −1 where the table does not store them."""

    nodes: np.ndarray  # int64 (B, N−1)


class NGram:
    r"""p(w_t | w_<t) ≈ p(w_t | w_{t−N+1} … w_{t−1}), with back-off to shorter contexts.

    The state after `advance` holds for each n the node of the last n words: it is found among the continuations of the
    node of the n−1 words before, so one word costs N−1 short searches and never a scan of the vocabulary.
    """

    def __init__(self, table: Table):
        self.table = table
        self.vocabulary_size = table.vocabulary_size
        self._scorer = Scorer(table)
        self.context = table.order - 1

    def start(self, batch: int) -> NGramState:
        nodes = np.full((batch, self.table.order - 1), -1, dtype=np.int64)
        nodes[:, :1] = self.table.start
        return NGramState(nodes)

    def log_probs(self, state: NGramState) -> np.ndarray:
        """The whole row: unigrams, then each longer context scales what is there and overwrites what it has stored."""
        rows = np.repeat(self.table.levels[0].log_probs[:][None].astype(np.float64), len(state.nodes), axis=0)
        for row, nodes in zip(rows, state.nodes, strict=True):
            for n in range(1, self.table.order):
                if nodes[n - 1] >= 0:
                    self._refine(row, n, int(nodes[n - 1]))
        return rows

    def _refine(self, row: np.ndarray, n: int, node: int) -> None:
        level, longer = self.table.levels[n - 1], self.table.levels[n]
        assert level.starts is not None and level.backoffs is not None
        row += level.backoffs[node]
        here = slice(int(level.starts[node]), int(level.starts[node + 1]))
        row[longer.words[here]] = longer.log_probs[here]

    def advance(self, state: NGramState, ids: np.ndarray) -> NGramState:
        ids = np.asarray(ids, dtype=np.int64)
        nodes = np.empty_like(state.nodes)
        for n in range(2, self.table.order):
            nodes[:, n - 1] = find_continuations(self.table, n, state.nodes[:, n - 2], ids)
        nodes[:, :1] = ids[:, None]
        ended = ids == self.table.end
        nodes[ended] = self.start(int(ended.sum())).nodes  # what comes next begins a unit
        return NGramState(nodes)

    def pick(self, state: NGramState, rows: np.ndarray) -> NGramState:
        return NGramState(state.nodes[np.asarray(rows)])

    def join(self, states: Sequence[NGramState]) -> NGramState:
        """The rows of several states as one batch."""
        return NGramState(np.concatenate([each.nodes for each in states]))

    def score(self, ids: np.ndarray) -> np.ndarray:
        ids = np.asarray(ids)
        marked = np.empty((len(ids), ids.shape[1] + 1), np.int32)
        marked[:, 0], marked[:, 1:] = self.table.start, ids
        if watched():
            note("path", path_of(self.table, marked.ravel()).rows(len(ids)))
        return self._scorer(marked.ravel()).reshape(marked.shape)[:, 1:]

    def score_units(self, ids: np.ndarray) -> np.ndarray:
        """ln p of each token of a stream of units that each end with </s>."""
        if watched():
            note("path", path_of(self.table, np.asarray(ids)))
        return self._scorer(np.asarray(ids))

    def shortened(self, context: int) -> NGram:
        """The same table with at most this many words of context: its lower orders are a model of their own."""
        levels = list(self.table.levels[: min(context, self.table.order - 1) + 1])
        return NGram(Table(levels, self.table.start, self.table.end, self.table.unknown))
