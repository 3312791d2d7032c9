"""Absolute discounting: the same small amount is taken from every count that is not zero."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.counting.smoothing._single_discount import check_discount, discounted, learn_discounts
from chainrule.registry import part


@part
class AbsoluteDiscounting:
    r"""Subtracts one discount an order from the occurrences, and interpolates with the shorter context.

    p(w|h) = max(c(hw) − D, 0) / c(h·) + γ(h) p(w|h′),   γ(h) = D N₁₊(h·) / c(h·),   D = n₁ / (n₁ + 2n₂)
    Ney, Essen & Kneser 1994; Chen & Goodman 1998, TR-10-98, §2.6.
    """

    uses: Literal["raw"] = "raw"
    interpolates = True

    def __init__(self, *, discount: float | None = None) -> None:
        check_discount("absolute_discounting.discount", discount)
        self.discount = discount
        self.discounts: list[float] = []
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        self.discounts = learn_discounts(evidence, self.discount)
        self.learned = {"discounts": [round(d, 6) for d in self.discounts]}

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        return discounted(group.counts, self.discounts[group.order - 1]), group.totals
