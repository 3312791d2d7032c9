"""Adaptive input: the rarer a token, the narrower its vector in the table."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.clusters import cut, narrowed
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class AdaptiveInput(nn.Module):
    r"""Rare tokens have narrower vectors than frequent ones; each cluster has a map to the width of the stream.

    x = scale · Pᵢ Eᵢ[w]  for w in cluster i,   Eᵢ: Vᵢ × D / factor^i,   Pᵢ: D × D / factor^i

    Baevski & Auli 2018, arXiv:1809.10853, §3. Tokens must be numbered by their frequency, as those of `words` are, and
    of byte pairs nearly so; clusters are those of the head `adaptive`, and the head `adaptive_tied` shares tables and
    maps. As there, the frequent tokens have a P₀ too. Every token is looked up in every table, and all but its own
    vector set to 0: no step waits for which tokens there are. Eᵢ starts as N(0, deviation²), Pᵢ as N(0, 1/inputs).
    """

    def __init__(self, place: Place, *, cutoffs: tuple[int, ...] | None = None, factor: float = 4.0,
                 deviation: float = 0.02, scale: Literal["one", "root"] = "one"):
        super().__init__()
        self.bounds = cut(place.vocabulary, cutoffs, "AdaptiveInput")
        self.tables, self.projections = nn.ParameterList(), nn.ModuleList()
        for i, (begin, end) in enumerate(zip([0, *self.bounds], self.bounds, strict=False)):
            narrow = narrowed(place.width, factor, i, "AdaptiveInput")
            self.tables.append(nn.Parameter(torch.empty(end - begin, narrow).normal_(0.0, deviation)))
            self.projections.append(Linear(narrow, place.width, bias=False))
        self.scale = place.width**0.5 if scale == "root" else 1.0

    def forward(self, ids: Tensor) -> Tensor:
        found: Any = 0
        for begin, table, projection in zip([0, *self.bounds], self.tables, self.projections, strict=False):
            inside = ids - begin
            mine = (inside >= 0) & (inside < len(table))
            found = found + projection(F.embedding(inside.clamp(0, len(table) - 1), table) * mine[..., None])
        found = found.to(self.tables[0].dtype)  # the stream stays precise in mixed precision, as with `lookup`
        return found if self.scale == 1.0 else found * self.scale
