"""Bits per pixel: what a model of images needs to store one."""

from __future__ import annotations

import math

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class BitsPerPixel(OfSums):
    """What a model needs to store a pixel: Σ −ln p / (ln 2 · pixels).

    A row of its table is (nats, pixels) of an image. Only models of the same size and the same levels can be compared
    by it.
    """

    label, higher, digits, bounds = "bits per pixel", False, 4, (0.0, math.inf)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1] / math.log(2)
