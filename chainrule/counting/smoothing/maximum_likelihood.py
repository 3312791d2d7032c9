"""Maximum likelihood: what was seen has its relative frequency, what was not seen has nothing."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.recipe.registry import part


@part
class MaximumLikelihood:
    r"""Relative frequencies, for looking at a text and for teaching; most new sentences get probability zero.

    p(w|h) = c(hw) / c(h·),   and p(w|h′) where h was never seen
    Chen & Goodman 1998, TR-10-98, §1.1. What pruning takes away goes to the words that are not stored, by p(w|h′).
    """

    uses: Literal["raw"] = "raw"
    interpolates = False

    def __init__(self) -> None:
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        """There is nothing to learn."""

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        return group.counts, group.totals
