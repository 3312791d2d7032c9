"""Accuracy: the share of units that were answered right."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part

Z = NormalDist().inv_cdf(0.975)


@part
class Accuracy(OfSums):
    """The share of units that were answered right: Σ right / Σ 1.

    A row of its table is (right, 1). The interval is Wilson's (1927, "Probable inference", JASA 22), which is right
    for few units and near 0 and 1 too, where a bootstrap has no width:
    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
    """

    label, higher, digits, bounds = "accuracy", True, 4, (0.0, 1.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]

    def interval(self, table_RK: np.ndarray) -> tuple[float, float]:
        right, n = table_RK.sum(axis=0)
        p = right / n
        middle, half = p + Z**2 / (2 * n), Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        low, high = (middle - half) / (1 + Z**2 / n), (middle + half) / (1 + Z**2 / n)
        return max(0.0, float(low)), min(1.0, float(high))
