"""Token embeddings: a table with a row for each token."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.embeddings._words_dropped import check_rate, without_words
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Lookup(nn.Module):
    """A table with a row for each token.

    x = scale · E[w]; E starts as N(0, deviation²).

    scale "root" is √D, as in Vaswani et al. 2017, arXiv:1706.03762, §3.4. In training a share `word_dropout` of the
    words is left out, each wherever it stands in the batch (Gal & Ghahramani 2016, arXiv:1512.05287).
    """

    def __init__(self, place: Place, *, deviation: float = 0.02,
                 scale: Literal["one", "root"] = "one", word_dropout: float = 0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(place.vocabulary, place.width).normal_(0.0, deviation))
        self.scale = place.width**0.5 if scale == "root" else 1.0
        self.word_dropout = check_rate("Lookup.word_dropout", word_dropout)

    def forward(self, ids: Tensor) -> Tensor:
        x = F.embedding(ids, self.weight)
        if self.word_dropout and self.training:
            x = without_words(x, ids, len(self.weight), self.word_dropout)
        return x if self.scale == 1.0 else x * self.scale
