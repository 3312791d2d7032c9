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

    scores = E h + b; b starts at 0.

    Press & Wolf 2017, arXiv:1608.05859; Inan et al. 2017, arXiv:1611.01462.
    """

    def __init__(self, place: Place, embedding: Any, *, bias: bool = False):
        super().__init__()
        table = getattr(embedding, "weight", None)
        if table is None or len(table) != place.outputs:
            raise OptionError("model.head", "tied", "'untied' here", "The outputs are not the input tokens, so there "
                              "is no table of the right size.")
        self.weight, self.outputs = table, place.outputs
        self.bias = nn.Parameter(torch.zeros(place.outputs)) if bias else None

    def scores(self, hidden: Tensor) -> Tensor:
        return nn.functional.linear(hidden, self.weight, self.bias)
