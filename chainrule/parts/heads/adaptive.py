"""Adaptive softmax: frequent tokens are scored directly, rare ones only within their cluster."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from chainrule.parts.clusters import cut, narrowed
from chainrule.parts.heads._clusters import Clustered
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Adaptive(Clustered):
    r"""Frequent tokens are scored at once, rare ones by clusters whose vectors are narrower.

    p(w | h) = softmax(W₀ h)[w]  for w below the first cutoff,
    p(w | h) = softmax(W₀ h)[cluster i] · softmax(Wᵢ Pᵢ h)[w]  for w in cluster i,   Pᵢ: D → D / factor^i

    Grave, Joulin, Cissé, Grangier & Jégou 2017, arXiv:1609.04309, §4. Tokens must be numbered by their frequency, as
    those of `words` are, and of byte pairs nearly so. Without `cutoffs` the frequent tokens are a tenth of all, and
    there are two clusters: up to four tenths, and the rest. Matrices start as N(0, 1/inputs).
    """

    def __init__(self, place: Place, embedding: Any, *, cutoffs: tuple[int, ...] | None = None, factor: float = 4.0):
        super().__init__()
        self.outputs, self.bounds = place.outputs, cut(place.outputs, cutoffs, "Adaptive")
        self.frequent = Linear(place.width, self.bounds[0] + len(self.bounds) - 1, bias=False)
        self.clusters = nn.ModuleList()
        for i, begin, end in self._clusters():
            narrow = narrowed(place.width, factor, i + 1, "Adaptive")
            self.clusters.append(nn.Sequential(Linear(place.width, narrow, bias=False),
                                               Linear(narrow, end - begin, bias=False)))

    def first(self, hidden: Tensor) -> Tensor:
        return self.frequent(hidden)

    def rare(self, cluster: int, hidden: Tensor) -> Tensor:
        return self.clusters[cluster](hidden)
