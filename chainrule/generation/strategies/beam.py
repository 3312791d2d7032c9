"""Beam search: the likeliest whole text, as far as a few drafts at a time can see."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.arrays import namespace, to_numpy
from chainrule.errors import OptionError
from chainrule.generation.draft import Draft, set_apart
from chainrule.generation.ranking import keep, largest
from chainrule.protocols import Array
from chainrule.recipe.registry import part


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
        self.results, self.length_penalty = beams, length_penalty

    def extend(self, live: Sequence[Draft], log_p_BV: Array) -> list[Draft]:
        xp = namespace(log_p_BV)
        count = min(self.results + 1, log_p_BV.shape[1])  # one more than can live on: one of them may be the end mark
        kept_BV = keep(log_p_BV, largest(log_p_BV, count)[:, -1:], count)
        rows, ids = (to_numpy(index).tolist() for index in xp.nonzero(kept_BV > -xp.inf))
        longer = [live[row].extended(id, float(log_p_BV[row, id])) for row, id in zip(rows, ids, strict=True)]
        return longer + [live[row].closed("stuck") for row in set(range(len(live))) - set(rows)]

    def sift(self, longer: Sequence[Draft], done: list[Draft], max_tokens: int) -> tuple[list[Draft], list[Draft]]:
        kept: list[Draft] = []
        for prompt in sorted({draft.prompt for draft in longer}):
            likeliest = sorted((d for d in longer if d.prompt == prompt), key=lambda d: (-d.log_p, d.ids))
            live, _ = set_apart(likeliest, [])
            _, done = set_apart(likeliest[: self.results], done)
            if live and self._may_win(live[0], [d for d in done if d.prompt == prompt], max_tokens):
                kept += live[: self.results]
        return kept, done

    def _may_win(self, best: Draft, done: Sequence[Draft], max_tokens: int) -> bool:
        """Whether a live draft could still enter the results: it can at best grow to the limit at no further cost."""
        ended = [d for d in self.rank(done) if d.reason != "stuck"]
        return len(ended) < self.results or self._score(best.log_p, max_tokens) > self._place(ended[-1])

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        return sorted(done, key=lambda d: (d.reason == "stuck", -self._place(d), d.ids))[: self.results]

    def _place(self, draft: Draft) -> float:
        return self._score(draft.log_p, len(draft.written))

    def _score(self, log_p: float, length: int) -> float:
        return log_p / ((5 + length) / 6) ** self.length_penalty
