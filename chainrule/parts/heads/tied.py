"""Tied softmax: the output matrix is the embedding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.heads._softmax import Softmax
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Tied(Softmax):
    """The output matrix is the embedding.

    scores = E h + b, or E Pᵀ h + b where the embedding is P E (`factorized`); b starts at 0.

    Press & Wolf 2017, arXiv:1608.05859; Inan et al. 2017, arXiv:1611.01462.
    """

    def __init__(self, place: Place, embedding: Any, *, bias: bool = False):
        super().__init__()
        table = getattr(embedding, "weight", None)
        if table is None or len(table) != place.outputs:
            clusters = hasattr(embedding, "tables")
            raise OptionError("model.head", "tied", "'adaptive_tied' or 'untied' here" if clusters else "'untied' here",
                              "Tokens are read by several tables." if clusters else
                              "The outputs are not the input tokens, so there is no table of the right size.")
        self.weight, self.outputs = table, place.outputs
        self.projection = getattr(embedding, "projection", None)
        self.bias = nn.Parameter(torch.zeros(place.outputs)) if bias else None

    def scores(self, hidden: Tensor) -> Tensor:
        narrow = hidden if self.projection is None else hidden @ self.projection.weight
        return nn.functional.linear(narrow, self.weight, self.bias)
