"""Tied softmax: the output matrix is the embedding."""

import torch
from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class Tied(nn.Module):
    """The output matrix is the embedding.

    logits = E h + b; b starts at 0.

    Press & Wolf 2017, arXiv:1608.05859; Inan et al. 2017, arXiv:1611.01462.
    """

    def __init__(self, width: int, embedding: Tensor, *, bias: bool = False):
        super().__init__()
        self.weight = embedding
        self.bias = nn.Parameter(torch.zeros(len(embedding))) if bias else None

    def forward(self, hidden: Tensor) -> Tensor:
        return nn.functional.linear(hidden, self.weight, self.bias)
