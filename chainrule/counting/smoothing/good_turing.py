"""Good–Turing with Katz's back-off: n-grams seen once estimate the probability of unseen ones."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group, named_orders
from chainrule.errors import OptionError
from chainrule.recipe.registry import part

HIGHEST_CUTOFF = 7
FALLBACK = 0.5


@part
class GoodTuring:
    r"""Small counts are discounted by Good and Turing's estimate; what that frees goes to unseen words by back-off.

    p(w|h) = d_{c(hw)} c(hw) / c(h·)  where c(hw) > 0,  otherwise α(h) p(w|h′)
    d_r = (r*/r − A) / (1 − A)  for 1 ≤ r ≤ k, otherwise 1;   r* = (r+1) n_{r+1}/n_r,   A = (k+1) n_{k+1}/n₁
    Good 1953; Katz 1987, eq. 6 and 15, k = `cutoff`; Chen & Goodman 1998, TR-10-98, §2.2 and §2.4.
    Departures: at each order k is lowered until every d_r lies in (0, 1]; where none will do, 0.5 is taken from every
    count. A context whose counts are all above k would leave nothing for unseen words, so its c(h·) is raised by one.
    """

    uses: Literal["raw"] = "raw"
    interpolates = False

    def __init__(self, *, cutoff: int = 5) -> None:
        if not 2 <= cutoff <= HIGHEST_CUTOFF:
            raise OptionError("good_turing.cutoff", cutoff, f"2 to {HIGHEST_CUTOFF}", "Katz took 5.")
        self.cutoff = cutoff
        self.factors: list[np.ndarray | None] = []
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        self.factors = [usable_factors(seen, self.cutoff) for seen in evidence.count_of_counts]
        self._warn_of_little_text(evidence)
        self.learned = {"discount_factors": [None if f is None else [round(float(d), 6) for d in f[1:]]
                                             for f in self.factors]}

    def _warn_of_little_text(self, evidence: Evidence) -> None:
        """Warns once for all orders with too little text, and says what is done instead."""
        reached = [0 if factors is None else len(factors) - 1 for factors in self.factors]
        for highest in sorted(set(reached) - {self.cutoff}):
            few = named_orders([n for n, own in enumerate(reached, start=1) if own == highest])
            evidence.say(f"too little text for Good–Turing discounts up to {self.cutoff} at {few}; discounting counts "
                         f"up to {highest}." if highest else
                         f"too little text to learn the Good–Turing discounts of {few}; taking {FALLBACK} from every "
                         "count.")

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        factors = self.factors[group.order - 1]
        if factors is None:
            return np.maximum(group.counts - FALLBACK, 0.0), group.totals
        rank = np.minimum(group.counts, len(factors)).astype(np.intp)
        kept = group.counts * np.append(factors, 1.0)[rank]
        nothing_left = group.sum(kept) > group.totals - 1e-9
        return kept, group.totals + nothing_left


def usable_factors(seen: np.ndarray, cutoff: int) -> np.ndarray | None:
    """[1, d₁ … d_k] for the highest k ≤ cutoff that gives every d_r in (0, 1], or None; k = 1 always gives d₁ = 0."""
    for k in range(cutoff, 1, -1):
        factors = katz_factors(seen, k)
        if factors is not None and ((factors > 0) & (factors <= 1)).all():
            return factors
    return None


def katz_factors(seen: np.ndarray, k: int) -> np.ndarray | None:
    """[1, d₁ … d_k] from n_r = seen[r]; None where some n_r is zero or singletons do not outweigh (k+1) n_{k+1}."""
    beyond = (k + 1) * seen[k + 1] / max(seen[1], 1)
    if not seen[1:k + 1].all() or beyond >= 1:
        return None
    r = np.arange(1, k + 1)
    ratios = (r + 1) * seen[2:k + 2] / (r * seen[1:k + 1])
    return np.concatenate([[1.0], (ratios - beyond) / (1 - beyond)])
