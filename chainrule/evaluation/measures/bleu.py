"""BLEU: how many words and short phrases of a translation its references have."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import part


@part
class BLEU(OfSums):
    """Corpus BLEU by sacrebleu: the geometric mean of the precision of 1- to 4-grams, times a penalty for brevity.

    A row of its table is (length, length of the reference, matches of each order, n-grams of each order). Papineni et
    al. 2002; Post 2018, arXiv:1804.08771.
    """

    label, higher, digits, bounds = "BLEU", True, 2, (0.0, 100.0)

    def of(self, sums: np.ndarray) -> np.ndarray:
        from sacrebleu.metrics import BLEU as sacrebleu

        rows = np.atleast_2d(sums).reshape(-1, sums.shape[-1])
        found = [sacrebleu.compute_bleu([int(c) for c in row[2:6].round()], [int(t) for t in row[6:10].round()],
                                        int(round(row[0])), int(round(row[1])), smooth_method="exp").score
                 for row in rows]
        return np.array(found).reshape(sums.shape[:-1])
