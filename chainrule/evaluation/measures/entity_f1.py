"""Entity F1: of all entities that there are and that were found, how many agree in type, first and last word."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class EntityF1(OfSums):
    """F1 over all entities of all sentences: 2 Σ hits / (Σ found + Σ true); 0 where there are none.

    A row of its table is (entities that agree, entities found, true entities) of a sentence. Tjong Kim Sang & De
    Meulder 2003, "Introduction to the CoNLL-2003 shared task".
    """

    label, higher, digits, bounds = "F1", True, 4, (0.0, 1.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        return 2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)
