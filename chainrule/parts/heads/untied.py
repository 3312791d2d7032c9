"""Untied softmax: an output matrix of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.parts.heads._softmax import Softmax
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Untied(Softmax):
    """An output matrix of its own.

    scores = W h + b; W starts as N(0, deviation²), b at 0.
    """

    def __init__(self, place: Place, embedding: Any, *, bias: bool = True, deviation: float = 0.02):
        super().__init__()
        self.outputs = place.outputs
        self.weight = nn.Parameter(torch.empty(place.outputs, place.width).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(place.outputs)) if bias else None

    def scores(self, hidden: Tensor) -> Tensor:
        return nn.functional.linear(hidden, self.weight, self.bias)
