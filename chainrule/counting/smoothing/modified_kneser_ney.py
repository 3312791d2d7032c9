"""Modified Kneser–Ney: three discounts an order, learned from how many n-grams were seen once, twice, thrice."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group, named_orders
from chainrule.errors import OptionError
from chainrule.recipe.registry import part

FALLBACK = (0.0, 0.5, 1.0, 1.5)


@part
class ModifiedKneserNey:
    r"""Kneser–Ney with three discounts an order, interpolated: the method to take unless another is known to be better.

    p(w|h) = (a(hw) − D_{a(hw)}) / a(h·) + γ(h) p(w|h′),   γ(h) = Σ_w D_{a(hw)} / a(h·)

    D_j = j − (j+1) Y n_{j+1} / n_j  for j = 1, 2, 3+,   Y = n₁ / (n₁ + 2n₂)
    Chen & Goodman 1998, TR-10-98, eq. 26; below the top order a counts distinct left neighbors. What order 1
    leaves over is spread evenly over all words; with `interpolate_unigrams=False`, as in KenLM, <unk> has all of it.
    """

    uses: Literal["continuation"] = "continuation"
    interpolates = True

    def __init__(self, *, interpolate_unigrams: bool = True) -> None:
        self.interpolate_unigrams = interpolate_unigrams
        self.unknown: int | None = None
        self.learned: dict[str, object] = {}
        self.discounts: list[np.ndarray] = []

    def fit(self, evidence: Evidence) -> None:
        self.unknown = evidence.unknown
        if not self.interpolate_unigrams and self.unknown is None:
            raise OptionError("modified_kneser_ney.interpolate_unigrams", False, "an open vocabulary, which has <unk>")
        found = [closed_form(seen) for seen in evidence.count_of_counts]
        if few := [n for n, discounts in enumerate(found, start=1) if discounts is None]:
            evidence.say(f"too little text to learn the discounts of {named_orders(few)}; taking 0.5, 1 and 1.5.")
        self.discounts = [np.array(FALLBACK) if discounts is None else discounts for discounts in found]
        self.learned = {"discounts": [[round(float(d), 6) for d in row[1:]] for row in self.discounts]}

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        rank = np.minimum(group.counts, 3).astype(np.intp)
        kept = group.counts - self.discounts[group.order - 1][rank]
        if group.order == 1 and not self.interpolate_unigrams:
            kept[self.unknown] += group.totals[0] - kept.sum()
        return kept, group.totals


def closed_form(seen: np.ndarray) -> np.ndarray | None:
    """[0, D₁, D₂, D₃₊] from n_j = seen[j]; None where the counts of counts do not give discounts within [0, j]."""
    if not (seen[1] and seen[2] and seen[3]):
        return None
    y = seen[1] / (seen[1] + 2 * seen[2])
    discounts = np.array([0.0] + [j - (j + 1) * y * seen[j + 1] / seen[j] for j in (1, 2, 3)])
    within = (discounts >= 0) & (discounts <= np.arange(4))
    return discounts if within.all() else None
