"""Witten–Bell: a context after which many different words came is likely to be followed by yet another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.recipe.registry import part


@part
class WittenBell:
    r"""Gives a new word the weight of the words that were new before; nothing to learn, good on small texts.

    p(w|h) = (c(hw) + T(h) p(w|h′)) / (c(h·) + T(h)),   T(h) = N₁₊(h·), the distinct words after h
    Witten & Bell 1991, method C; Chen & Goodman 1998, TR-10-98, §2.5.
    """

    uses: Literal["raw"] = "raw"
    interpolates = True

    def __init__(self) -> None:
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        """There is nothing to learn."""

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        return group.counts, group.totals + group.types
