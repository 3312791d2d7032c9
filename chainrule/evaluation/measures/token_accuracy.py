"""Token accuracy: the share of words that got their right tag."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class TokenAccuracy(OfSums):
    """The share of words with the right tag: Σ right / Σ words.

    A row of its table is (right, words) of a sentence, since words of one sentence are not independent: whole sentences
    are drawn for its interval.
    """

    label, higher, digits, bounds = "accuracy", True, 4, (0.0, 1.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]
