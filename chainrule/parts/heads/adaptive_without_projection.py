"""Adaptive softmax whose clusters have vectors as wide as all others."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from chainrule.parts.clusters import cut
from chainrule.parts.heads._clusters import Clustered
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class AdaptiveWithoutProjection(Clustered):
    r"""Rare tokens are scored within their cluster, with vectors as wide as those of frequent ones.

    p(w | h) = softmax(W₀ h)[w]  for w below the first cutoff,
    p(w | h) = softmax(W₀ h)[cluster i] · softmax(Wᵢ h)[w]  for w in cluster i

    Grave et al. 2017, arXiv:1609.04309, §4, without the projections Pᵢ: a row of Narang et al. 2021, arXiv:2102.11972,
    table 1, where the matrices are the embedding's (here `adaptive_tied` with a `lookup`). It saves time, not
    parameters. Clusters are those of `adaptive`. Matrices start as N(0, 1/D).
    """

    def __init__(self, place: Place, embedding: Any, *, cutoffs: tuple[int, ...] | None = None):
        super().__init__()
        self.outputs, self.bounds = place.outputs, cut(place.outputs, cutoffs, "AdaptiveWithoutProjection")
        self.frequent = Linear(place.width, self.bounds[0] + len(self.bounds) - 1, bias=False)
        self.clusters = nn.ModuleList(Linear(place.width, end - begin, bias=False) for _, begin, end in
                                      self._clusters())

    def first(self, hidden: Tensor) -> Tensor:
        return self.frequent(hidden)

    def rare(self, cluster: int, hidden: Tensor) -> Tensor:
        return self.clusters[cluster](hidden)
