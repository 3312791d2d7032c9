"""Kneser–Ney: a shorter context counts in how many places a word appeared, not how often."""

from __future__ import annotations

from typing import Literal

from chainrule.counting.smoothing._single_discount import SingleDiscount
from chainrule.recipe.registry import part


@part
class KneserNey(SingleDiscount):
    r"""Absolute discounting whose shorter contexts count distinct left neighbors; one discount an order, interpolated.

    p(w|h) = max(a(hw) − D, 0) / a(h·) + γ(h) p(w|h′),   γ(h) = D N₁₊(h·) / a(h·),   D = n₁ / (n₁ + 2n₂)
    a(hw) = c(hw) at the top order and after <s>, otherwise N₁₊(·hw)
    Kneser & Ney 1995; interpolated as in Chen & Goodman 1998, TR-10-98, §2.7 and §4.1.
    """

    uses: Literal["continuation"] = "continuation"
