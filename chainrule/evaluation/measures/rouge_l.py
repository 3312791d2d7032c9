"""ROUGE-L: how much of a reference, in its order, a summary has."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class RougeL(OfSums):
    """The mean over texts of the F-measure of the longest common subsequence of words; times 100.

    A row of its table is (F, 1). Lin 2004, "ROUGE: a package for automatic evaluation of summaries", §3.
    """

    label, higher, digits, bounds = "ROUGE-L", True, 2, (0.0, 100.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return 100 * sums[..., 0] / sums[..., 1]
