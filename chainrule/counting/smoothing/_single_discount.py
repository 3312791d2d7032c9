"""One discount an order, from how many n-grams were seen once and twice."""

from __future__ import annotations

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group, named_orders
from chainrule.errors import OptionError

FALLBACK = 0.5


class SingleDiscount:
    """kept(hw) = max(count − D, 0), mass(h) = the sum of the counts; which counts is for the method to say."""

    interpolates = True

    def __init__(self, *, discount: float | None = None) -> None:
        if discount is not None and not 0 < discount <= 1:
            where = f"{type(self).__module__.rsplit('.', 1)[-1]}.discount"  # the part's name is its file's
            raise OptionError(where, discount, "above 0 and at most 1", "Leave it out and it is learned from the text.")
        self.discount = discount
        self.discounts: list[float] = []
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        self.discounts = learn_discounts(evidence, self.discount)
        self.learned = {"discounts": [round(d, 6) for d in self.discounts]}

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        return discounted(group.counts, self.discounts[group.order - 1]), group.totals


def learn_discounts(evidence: Evidence, given: float | None) -> list[float]:
    """D = n₁ / (n₁ + 2n₂) for each order, or the given one. Ney, Essen & Kneser 1994, §3."""
    if given is not None:
        return [given] * len(evidence.count_of_counts)
    usable = [bool(seen[1] and seen[2]) for seen in evidence.count_of_counts]
    if few := [n for n, enough in enumerate(usable, start=1) if not enough]:
        evidence.say(f"too little text to learn the discount of {named_orders(few)}; taking {FALLBACK}.")
    return [float(seen[1] / (seen[1] + 2 * seen[2])) if enough else FALLBACK
            for seen, enough in zip(evidence.count_of_counts, usable, strict=True)]


def discounted(counts: np.ndarray, discount: float) -> np.ndarray:
    """max(c − D, 0)"""
    return np.maximum(counts - discount, 0.0)
