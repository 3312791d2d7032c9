"""Token NLL: what a model needs to tell one hidden token."""

from __future__ import annotations

import math

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class TokenNLL(OfSums):
    """What a model needs to tell a token that it does not see, in nats: Σ −ln p / tokens.

    A row of its table begins with (nats, tokens) of a window of text. Only models with the same tokens can be compared
    by it.
    """

    label, higher, digits, bounds = "nats per token", False, 4, (0.0, math.inf)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]
