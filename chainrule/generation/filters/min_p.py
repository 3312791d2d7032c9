"""Min-p: tokens at least a share as likely as the likeliest."""

from __future__ import annotations

import math

from chainrule.arrays import namespace
from chainrule.errors import OptionError
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class MinP:
    """Keeps the tokens with p(w) ≥ share · max p: many where the model is unsure, few where it is sure.

    Nguyen et al. 2024, arXiv:2407.01082, §3.
    """

    def __init__(self, *, share: float = 0.05):
        if not 0 < share <= 1:
            raise OptionError("min_p", share, "above 0 and at most 1", "1 keeps only the likeliest tokens.")
        self.share = share

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array:
        xp = namespace(log_p_BV)
        least_B1 = xp.max(log_p_BV, axis=1, keepdims=True) + math.log(self.share)
        return xp.where(log_p_BV >= least_B1, log_p_BV, -xp.inf)
