"""Frame NLL: what a model of music needs to tell one time step."""

from __future__ import annotations

import math

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class FrameNLL(OfSums):
    """What a model needs to tell a time step of music, in nats: Σ −ln p / frames.

    A row of its table is (nats, frames) of a piece. Boulanger-Lewandowski, Bengio & Vincent 2012, arXiv:1206.6392, §6.
    """

    label, higher, digits, bounds = "frame NLL", False, 3, (0.0, math.inf)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]
