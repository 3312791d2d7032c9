"""One discount an order, from how many n-grams were seen once and twice."""

from __future__ import annotations

import numpy as np

from chainrule.counting.smoothing._method import Evidence
from chainrule.errors import OptionError

FALLBACK = 0.5


def check_discount(where: str, discount: float | None) -> None:
    if discount is not None and not 0 < discount <= 1:
        raise OptionError(where, discount, "above 0 and at most 1", "Leave it out and it is learned from the text.")


def learn_discounts(evidence: Evidence, given: float | None) -> list[float]:
    """D = n₁ / (n₁ + 2n₂) for each order, or the given one. Ney, Essen & Kneser 1994, §3."""
    if given is not None:
        return [given] * len(evidence.count_of_counts)
    discounts = []
    for n, seen in enumerate(evidence.count_of_counts, start=1):
        usable = bool(seen[1] and seen[2])
        if not usable:
            evidence.say(f"too little text to learn the discount of order {n}; taking {FALLBACK}.")
        discounts.append(float(seen[1] / (seen[1] + 2 * seen[2])) if usable else FALLBACK)
    return discounts


def discounted(counts: np.ndarray, discount: float) -> np.ndarray:
    """max(c − D, 0)"""
    return np.maximum(counts - discount, 0.0)
