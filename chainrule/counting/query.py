"""Scoring a whole text against a table: order by order for all positions at once."""

from __future__ import annotations

import numpy as np

from chainrule.counting.counts import Counts
from chainrule.counting.table import Table, find_continuations

JIT_PAYS_FROM = 500_000  # tokens: scoring them plainly takes about as long as loading Numba and its kernels


class Scorer:
    """Scores in NumPy until enough text has been scored that loading the kernel pays off."""

    def __init__(self, table: Table):
        self.table, self.asked = table, 0

    def __call__(self, text: np.ndarray) -> np.ndarray:
        """ln p of each token given those before it in its unit; a unit begins at the start, after </s> and at <s>.

        The entries at <s>, where it is written out, mean nothing.
        """
        self.asked += len(text)
        if self.asked < JIT_PAYS_FROM:
            return score_stream_plainly(self.table, text)
        from chainrule.kernels.query import score_stream

        return score_stream(self.table, text)


def score_stream_plainly(table: Table, text: np.ndarray) -> np.ndarray:
    levels, nodes = table.levels, nodes_of(table, text, table.end)
    total = levels[0].log_probs[text].astype(np.float64)
    for n in range(1, table.order):
        backoffs = levels[n - 1].backoffs
        assert backoffs is not None
        context = before(table, text, table.end, n, nodes[n - 1])
        known = context >= 0
        total[known] += backoffs[context[known]]
        stored = nodes[n] >= 0
        total[stored] = levels[n].log_probs[nodes[n][stored]]
    return total


def nodes_of(trie: Table | Counts, text: np.ndarray, end: int) -> list[np.ndarray]:
    """For each order the node of the n-gram that ends at each position, −1 where it is not there."""
    nodes = [np.asarray(text, dtype=np.int64)]
    for n in range(2, trie.order + 1):
        context = before(trie, text, end, n - 1, nodes[-1])
        nodes.append(find_continuations(trie, n, context, nodes[0]))
    return nodes


def before(trie: Table | Counts, text: np.ndarray, end: int, n: int, nodes: np.ndarray) -> np.ndarray:
    """The node of the n words before each position; a unit that has just begun has read only <s>."""
    fresh = trie.start if n == 1 else -1
    return np.concatenate([[fresh], np.where(text[:-1] == end, fresh, nodes[:-1])])
