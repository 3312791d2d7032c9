"""PPMI: how much more often two words co-occur than by chance, as a matrix, and its largest singular vectors."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.recipe.registry import part
from chainrule.vectors.cooccurrence import Pairs, count_pairs, distance_weights, most_events
from chainrule.vectors.factorized import Sparse, truncated_svd
from chainrule.vectors.memory_limit import memory_of, scratch_for
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.text import Source, Text, read_text
from chainrule.vectors.training_options import TrainingOptions

steps = logging.getLogger("chainrule.steps")


@part
class Ppmi:
    r"""Positive pointwise mutual information, shifted by ln `shift`, then a truncated SVD.

    M_wc = max(0, ln (X_wc Σ X) / (X_w X_c) − ln shift),   M ≈ U Σ Vᵀ,   vectors U Σ^power
    Levy & Goldberg 2014, "Neural word embedding as implicit matrix factorization"; X_c^smoothing in the place of X_c,
    and power ½: Levy, Goldberg & Dagan 2015, TACL 3, §3. Shift k is what k noise words do in skip-gram.
    """

    usual: Mapping[str, float] = {}
    continues: ClassVar[bool] = False

    def __init__(self, *, shift: float = 1.0, smoothing: float = 0.75, power: float = 0.5,
                 weighting: Literal["harmonic", "dynamic", "flat"] = "dynamic", memory: int | str = "1.5G") -> None:
        if shift <= 0:
            raise OptionError("model.method.shift", shift, "above 0", "1 shifts nothing.")
        self.shift, self.smoothing, self.power = shift, smoothing, power
        self.weighting, self.memory = weighting, memory_of(memory)

    def read(self, source: Source) -> Text:
        return read_text(source)

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        if options.dimension > text.vocabulary_size:
            raise OptionError("model.dimension", options.dimension, f"at most the {text.vocabulary_size:,} words")
        scratch = scratch_for(most_events(text, options.window), self.memory, options.folder)
        pairs = count_pairs(text, distance_weights(options.window, self.weighting), scratch)
        matrix = information(pairs, shift=self.shift, smoothing=self.smoothing)
        if not len(matrix.values):
            raise OptionError("model.method.shift", self.shift, "less, or more text",
                              "No pair of words co-occurs so much more often than chance: all vectors would be zero.")
        steps.debug(f"{options.dimension} singular vectors of {len(matrix.values):,} entries")
        u, sizes = truncated_svd(matrix, options.dimension, seed=options.seed)
        return Learned({"vectors": (u * sizes**self.power).astype(np.float32), "singular": sizes.astype(np.float32)},
                       {"pairs": len(pairs.keys), "positive": len(matrix.values)})


def information(pairs: Pairs, *, shift: float, smoothing: float) -> Sparse:
    """The matrix of shifted positive PMI: places where either direction is positive."""
    size, one, other = pairs.vocabulary_size, pairs.rows, pairs.columns
    apart = one != other
    rows, columns = np.concatenate([one, other[apart]]), np.concatenate([other, one[apart]])
    weights = np.concatenate([pairs.weights, pairs.weights[apart]])
    totals = np.bincount(rows, weights, size)
    chance = totals**smoothing / (totals**smoothing).sum()  # of a context
    with np.errstate(divide="ignore"):
        log_total, log_chance = np.log(totals), np.log(chance)
    ahead = np.log(weights) - log_total[rows] - log_chance[columns] - np.log(shift)
    back = np.log(weights) - log_total[columns] - log_chance[rows] - np.log(shift)
    kept = np.flatnonzero((ahead > 0) | (back > 0))
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=size))]).astype(np.int64)
    return Sparse(starts, columns[kept].astype(np.int32), np.maximum(ahead[kept], 0).astype(np.float32),
                  np.maximum(back[kept], 0).astype(np.float32))
