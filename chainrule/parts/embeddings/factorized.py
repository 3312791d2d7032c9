"""Factorized embeddings: a narrow table, and a map to the width of the stream."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.embeddings._words_dropped import check_rate, without_words
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Factorized(nn.Module):
    r"""A narrow table with a row for each token, and one map that makes its vectors as wide as the stream.

    x = scale · P E[w],   E: V × rank,   P: D × rank

    Lan et al. 2019 (ALBERT), arXiv:1909.11942, §3.1: V·rank + rank·D numbers in the place of V·D. Without `rank` it is
    D/6: ALBERT's 128 for a width of 768. The head `tied` goes back by the same two, E Pᵀ h; `untied` has a full matrix
    of its own. E starts as N(0, deviation²), P as N(0, 1/rank), so that x begins as large as that of `lookup`. `scale`
    and `word_dropout` are those of `lookup`.
    """

    def __init__(self, place: Place, *, rank: int | None = None, deviation: float = 0.02,
                 scale: Literal["one", "root"] = "one", word_dropout: float = 0.0):
        super().__init__()
        if rank is not None and rank < 1:
            raise OptionError("Factorized.rank", rank, "at least 1, or null for a sixth of the width")
        rank = max(1, place.width // 6) if rank is None else rank
        self.weight = nn.Parameter(torch.empty(place.vocabulary, rank).normal_(0.0, deviation))
        self.projection = Linear(rank, place.width, bias=False)
        self.scale = place.width**0.5 if scale == "root" else 1.0
        self.word_dropout = check_rate("Factorized.word_dropout", word_dropout)

    def forward(self, ids: Tensor) -> Tensor:
        x = F.embedding(ids, self.weight)
        if self.word_dropout and self.training:
            x = without_words(x, ids, len(self.weight), self.word_dropout)
        x = self.projection(x).to(self.weight.dtype)  # the stream stays precise in mixed precision, as with `lookup`
        return x if self.scale == 1.0 else x * self.scale
