"""Word error rate: how many words must be replaced, left out or added for each word of a transcript."""

from __future__ import annotations

import math

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class WordErrorRate(OfSums):
    """Edits for each word of the references: Σ (substitutions + deletions + insertions) / Σ words.

    A row of its table is (errors, words of the reference). It is above 1 where more is said than there is.
    """

    label, higher, digits, bounds = "WER", False, 4, (0.0, math.inf)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]
