"""Additive smoothing: every word is taken to have been seen a little more often than it was."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.errors import OptionError
from chainrule.recipe.registry import part


@part
class Additive:
    r"""Adds `delta` to the count of every word after every context: 1 is Laplace's rule, another number Lidstone's.

    p(w|h) = (c(hw) + δ) / (c(h·) + δV)
    Lidstone 1920; Chen & Goodman 1998, TR-10-98, §2.1. Written as an interpolation with the uniform 1/V, so the
    shorter contexts, which the equation does not use, are uniform too.
    """

    uses: Literal["raw"] = "raw"
    interpolates = True

    def __init__(self, *, delta: float = 1.0) -> None:
        if not 0 < delta < np.inf:
            raise OptionError("additive.delta", delta, "a number above 0", "For 0 take maximum_likelihood.")
        self.delta = delta
        self.added = 0.0
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        self.added = self.delta * evidence.vocabulary_size
        self.learned = {"delta": self.delta, "vocabulary_size": evidence.vocabulary_size}

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        kept = np.where(group.spread(group.whole), group.counts, 0.0)
        return kept, np.where(group.whole, group.totals + self.added, 1.0)
