"""Spearman's ρ: do a model's scores rank pairs as people do?"""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfUnits
from chainrule.recipe.registry import part
from chainrule.vectors.evaluations.similarity import spearman


@part
class Spearman(OfUnits):
    """The correlation of ranks; a row of its table is (the model's score, people's score). Spearman 1904."""

    label, higher, digits, bounds = "Spearman's ρ", True, 4, (-1.0, 1.0)

    def value(self, table_RK: np.ndarray) -> float:
        found = spearman(table_RK[:, 0], table_RK[:, 1]) if len(table_RK) else None
        return float("nan") if found is None else found
