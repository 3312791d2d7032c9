"""A hidden layer before the softmax: what a bag of vectors needs to be more than a sum of votes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.heads._softmax import Softmax
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class MLP(Softmax):
    r"""One hidden layer, then an output matrix of its own.

    scores = W₂ dropout(relu(W₁ h + b₁)) + b₂; W₁ starts as N(0, 1/D), W₂ as N(0, deviation²), biases at 0.

    As in the deep averaging network of Iyyer et al. 2015, "Deep unordered composition rivals syntactic methods".
    """

    def __init__(self, place: Place, embedding: Any, *, hidden: int | None = None, dropout: float = 0.0,
                 deviation: float = 0.02):
        super().__init__()
        if hidden is not None and hidden < 1:
            raise OptionError("MLP.hidden", hidden, "at least 1, or null for the width of the model")
        if not 0 <= dropout < 1:
            raise OptionError("MLP.dropout", dropout, "at least 0 and less than 1")
        self.outputs, self.dropout = place.outputs, dropout
        self.inward = Linear(place.width, hidden or place.width)
        self.weight = nn.Parameter(torch.empty(place.outputs, self.inward.out_features).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(place.outputs))

    def scores(self, hidden: Tensor) -> Tensor:
        inside = F.dropout(self.inward(hidden).relu(), self.dropout, self.training)
        return nn.functional.linear(inside, self.weight, self.bias)
