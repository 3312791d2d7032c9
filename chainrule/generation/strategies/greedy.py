"""Greedy: always the likeliest token."""

from __future__ import annotations

import numpy as np

from chainrule.arrays import namespace
from chainrule.generation.strategies._row_by_row import RowByRow
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class Greedy(RowByRow):
    """w_t = argmax_w p(w | w_<t); of equally likely tokens the one with the lowest id."""

    results = 1

    def choose(self, log_p_BV: Array, u_B: Array) -> Array:
        return namespace(log_p_BV).argmax(log_p_BV, axis=1)

    def draws(self, numbers: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return np.zeros(positions.shape)
