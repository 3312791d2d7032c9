"""The back-off path of each token: which order answered, and what the longer contexts cost on the way down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.counting.query import before, nodes_of
from chainrule.counting.table import Table


@dataclass(frozen=True)
class Path:
    r"""ln p(w|h) = ln p(w | the last n−1 words of h) + Σ_k ln γ(the last k words of h)   over   n ≤ k < N

    n is the order that answered: the longest stored n-gram that ends in w. Katz 1987, eq. 6.
    """

    order: np.ndarray  # int (T,): n
    stored: np.ndarray  # float64 (T,): ln p of that n-gram, as the table has it
    backoffs: np.ndarray  # float64 (T, N−1): ln γ of the k words before, at k−1; NaN where none was looked up

    @property
    def log_probs(self) -> np.ndarray:
        """(T,): ln p along the path."""
        return self.stored + np.nansum(self.backoffs, axis=-1)

    def rows(self, rows: int) -> Path:
        """(B, T) of B texts of one length that lie one after the other, each behind its <s>, which is left out."""
        shape = rows, len(self.order) // rows
        return Path(self.order.reshape(shape)[:, 1:], self.stored.reshape(shape)[:, 1:],
                    self.backoffs.reshape(*shape, self.backoffs.shape[-1])[:, 1:])


def path_of(table: Table, text: np.ndarray) -> Path:
    """The path of each token of a stream of units; entries at <s>, where it is written out, mean nothing."""
    nodes = nodes_of(table, text, table.end)
    order, stored = np.ones(len(text), np.int64), table.levels[0].log_probs[text].astype(np.float64)
    backoffs = np.full((len(text), table.order - 1), np.nan)
    for n in range(1, table.order):
        weights = table.levels[n - 1].backoffs
        assert weights is not None
        context = before(table, text, table.end, n, nodes[n - 1])
        backoffs[context >= 0, n - 1] = weights[context[context >= 0]]
        answers = nodes[n] >= 0
        order[answers], stored[answers] = n + 1, table.levels[n].log_probs[nodes[n][answers]]
    backoffs[np.arange(1, table.order) < order[:, None]] = np.nan  # an answer needs nothing of shorter contexts
    return Path(order, stored, backoffs)
