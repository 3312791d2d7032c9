"""Beam search: approximates the likeliest whole text with a few drafts at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.arrays import namespace, to_numpy
from chainrule.errors import OptionError
from chainrule.generation.choosing import Extension
from chainrule.generation.ranking import keep, largest
from chainrule.generation.rows import Draft, Rows
from chainrule.protocols import Array
from chainrule.recipe.registry import part

LARGEST_PENALTY = 10.0  # of larger ones, the power of a long text's length is no number


@part
class Beam:
    """Keeps the `beams` likeliest drafts at each step; ended ones are ranked by s(Y).

    s(Y) = ln p(Y) / lp(Y),   lp(Y) = ((5 + |Y|) / 6)^α   with |Y| counting the end mark
    Wu et al. 2016, arXiv:1609.08144, eq. 14, without the coverage penalty. A draft may end where that is among the
    `beams` likeliest steps, and leaves its place to the next best; the search goes on until no live draft, however long
    it grows, can enter the `beams` best ended ones.
    """

    def __init__(self, *, beams: int = 4, length_penalty: float = 0.6):
        if beams < 1:
            raise OptionError("beams", beams, "at least 1")
        if not 0 <= length_penalty < float("inf"):
            raise OptionError("length_penalty", length_penalty, "0 or more", "0 ranks by ln p alone.")
        if length_penalty > LARGEST_PENALTY:
            raise OptionError("length_penalty", length_penalty, f"at most {LARGEST_PENALTY:g}",
                              "1 divides ln p by the length; more favors long texts further.")
        self.results, self.length_penalty = beams, length_penalty

    def extend(self, rows: Rows, log_p_BV: Array) -> Extension:
        xp = namespace(log_p_BV)
        count = min(self.results + 1, log_p_BV.shape[1])  # one more than can live on: one of them may be the end mark
        kept_BV = keep(log_p_BV, largest(log_p_BV, count)[:, -1:], count)
        places = xp.nonzero(kept_BV > -xp.inf)
        return Extension(to_numpy(places[0]), to_numpy(places[1]), to_numpy(log_p_BV[places]))

    def sift(self, rows: Rows, reasons: Sequence[str], done: list[Draft]) -> tuple[np.ndarray, list[Draft]]:
        kept: list[int] = []
        for number in np.unique(rows.numbers).tolist():
            likeliest = self._sorted(rows, np.flatnonzero(rows.numbers == number))
            live = [row for row in likeliest if not reasons[row]]
            done = done + [rows.draft(row, reasons[row]) for row in likeliest[: self.results] if reasons[row]]
            if live and self._may_win(rows, live[0], [draft for draft in done if draft.number == number]):
                kept += live[: self.results]
        return np.array(kept, np.int64), done

    def _sorted(self, rows: Rows, which: np.ndarray) -> list[int]:
        """From the likeliest down, equally likely ones by their ids."""
        order = which[np.argsort(-rows.log_p[which], kind="stable")]
        same = np.flatnonzero(np.diff(rows.log_p[order]) == 0)
        if not len(same):
            return order.tolist()
        return sorted(order.tolist(), key=lambda row: (-rows.log_p[row], rows.ids[row, : rows.lengths[row]].tolist()))

    def _may_win(self, rows: Rows, best: int, done: Sequence[Draft]) -> bool:
        """Whether a live draft could still enter the results: it can at best grow to the limit at no further cost."""
        ended = [draft for draft in self.rank(done) if draft.reason != "stuck"]
        limit = self._score(float(rows.log_p[best]), int(rows.most[best]))
        return len(ended) < self.results or limit > self.score(ended[-1])

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        return sorted(done, key=lambda d: (d.reason == "stuck", -self.score(d), d.ids))[: self.results]

    def score(self, draft: Draft) -> float:
        """s(Y), by which drafts are ranked."""
        return self._score(draft.log_p, len(draft.written))

    def _score(self, log_p: float, length: int) -> float:
        return log_p / ((5 + length) / 6) ** self.length_penalty
