"""Absolute discounting: the same small amount is taken from every count that is not zero."""

from __future__ import annotations

from typing import Literal

from chainrule.counting.smoothing._single_discount import SingleDiscount
from chainrule.recipe.registry import part


@part
class AbsoluteDiscounting(SingleDiscount):
    r"""Subtracts one discount an order from the occurrences, and interpolates with the shorter context.

    p(w|h) = max(c(hw) − D, 0) / c(h·) + γ(h) p(w|h′),   γ(h) = D N₁₊(h·) / c(h·),   D = n₁ / (n₁ + 2n₂)
    Ney, Essen & Kneser 1994; Chen & Goodman 1998, TR-10-98, §2.6.
    """

    uses: Literal["raw"] = "raw"
