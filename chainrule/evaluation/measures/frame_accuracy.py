"""Frame accuracy: how many of the notes that sound or are predicted do both."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class FrameAccuracy(OfSums):
    """The share of notes that sound and are predicted, of all that do either: Σ TP / Σ (TP + FP + FN).

    A row of its table is (TP, TP + FP + FN) of a piece. Bay, Ehmann & Downie 2009, "Evaluation of multiple-F0
    estimation and tracking systems", eq. 1; a key is predicted where p > ½.
    """

    label, higher, digits, bounds = "frame accuracy", True, 4, (0.0, 1.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]
