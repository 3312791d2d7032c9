"""Micro-F1: of all labels that texts have, and all that were given, how many agree."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class MicroF1(OfSums):
    """F1 over all labels of all texts: 2 Σ hits / (Σ given + Σ true).

    A row of its table is (labels that agree, labels given, true labels); van Rijsbergen 1979, "Information retrieval".
    """

    label, higher, digits, bounds = "micro-F1", True, 4, (0.0, 1.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])
