"""Kneser–Ney: a shorter context counts in how many places a word appeared, not how often."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.counting.smoothing._single_discount import check_discount, discounted, learn_discounts
from chainrule.registry import part


@part
class KneserNey:
    r"""Absolute discounting whose shorter contexts count distinct left neighbors; one discount an order, interpolated.

    p(w|h) = max(a(hw) − D, 0) / a(h·) + γ(h) p(w|h′),   γ(h) = D N₁₊(h·) / a(h·),   D = n₁ / (n₁ + 2n₂)
    a(hw) = c(hw) at the top order and after <s>, otherwise N₁₊(·hw)
    Kneser & Ney 1995; interpolated as in Chen & Goodman 1998, TR-10-98, §2.7 and §4.1.
    """

    uses: Literal["continuation"] = "continuation"
    interpolates = True

    def __init__(self, *, discount: float | None = None) -> None:
        check_discount("kneser_ney.discount", discount)
        self.discount = discount
        self.discounts: list[float] = []
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        self.discounts = learn_discounts(evidence, self.discount)
        self.learned = {"discounts": [round(d, 6) for d in self.discounts]}

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        return discounted(group.counts, self.discounts[group.order - 1]), group.totals
