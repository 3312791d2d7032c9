"""Adaptive softmax whose matrices are the embedding's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.clusters import cut
from chainrule.parts.heads._clusters import Clustered
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class AdaptiveTied(Clustered):
    r"""An adaptive softmax that scores tokens by the vectors that they are read with.

    p(w | h) = softmax([E₀ P₀ᵀ h; C h])[w]  for w below the first cutoff,
    p(w | h) = softmax([E₀ P₀ᵀ h; C h])[cluster i] · softmax(Eᵢ Pᵢᵀ h)[w]  for w in cluster i

    Baevski & Auli 2018, arXiv:1809.10853, §3, whose embedding is `adaptive_input`: tables Eᵢ and projections Pᵢ are its
    own, and so are its cutoffs. With a `lookup` all Eᵢ are rows of its one table and there is no Pᵢ: the adaptive
    softmax without projection of Narang et al. 2021, arXiv:2102.11972. C, which scores the clusters, starts as
    N(0, 1/D).
    """

    def __init__(self, place: Place, embedding: Any, *, cutoffs: tuple[int, ...] | None = None):
        super().__init__()
        self.outputs = place.outputs
        clusters = getattr(embedding, "tables", None)
        self.bounds = cut(place.outputs, cutoffs, "AdaptiveTied") if clusters is None else list(embedding.bounds)
        if clusters is not None and cutoffs is not None and [*cutoffs] != self.bounds[:-1]:
            raise OptionError("AdaptiveTied.cutoffs", cutoffs, f"{self.bounds[:-1]}, as in model.embedding",
                              "Without them it takes those of the embedding.")
        self.weight = getattr(embedding, "weight", None) if clusters is None else None
        self.tables = clusters
        self.projection = getattr(embedding, "projection", None)  # of one table, if it is factorized
        self.projections = getattr(embedding, "projections", None)  # of each
        rows = self.bounds[-1] if clusters is not None else -1 if self.weight is None else len(self.weight)
        if rows != place.outputs:
            raise OptionError("model.head", "adaptive_tied", "'adaptive' here", "The outputs are not the input tokens, "
                              "so there is no table of the right size.")
        self.clusters = Linear(place.width, len(self.bounds) - 1, bias=False)

    def first(self, hidden: Tensor) -> Tensor:
        return torch.cat([self._scores(0, hidden), self.clusters(hidden)], dim=-1)

    def rare(self, cluster: int, hidden: Tensor) -> Tensor:
        return self._scores(cluster + 1, hidden)

    def _scores(self, number: int, hidden: Tensor) -> Tensor:
        """Of the tokens of a table, that of the frequent ones first."""
        projection: Any = self.projection if self.projections is None else self.projections[number]
        narrow = hidden if projection is None else hidden @ projection.weight
        if self.tables is not None:
            return F.linear(narrow, self.tables[number])
        assert self.weight is not None
        return F.linear(narrow, self.weight[([0] + self.bounds)[number]:self.bounds[number]])
