"""Untied softmax: an output matrix of its own."""

import torch
from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class Untied(nn.Module):
    """An output matrix of its own.

    logits = W h + b; W starts as N(0, deviation²), b at 0.
    """

    def __init__(self, width: int, embedding: Tensor, *, bias: bool = True, deviation: float = 0.02):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(len(embedding), width).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(len(embedding))) if bias else None

    def forward(self, hidden: Tensor) -> Tensor:
        return nn.functional.linear(hidden, self.weight, self.bias)
