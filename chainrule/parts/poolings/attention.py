"""A mean whose weights are learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.parts.poolings._padding import real
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class Attention(nn.Module):
    r"""A mean of the vectors of a row, weighed by their likeness to a learned vector u.

    y = Σ_t α_t h_t,   α = softmax_t(u · tanh(W h_t + b))

    Yang et al. 2016, "Hierarchical attention networks for document classification", eq. 5–7. u starts as N(0, 1/D).
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width
        self.inward = Linear(place.width, place.width, bias=True)
        self.context = nn.Parameter(torch.randn(place.width) * place.width**-0.5)

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        score_BT1 = (self.inward(hidden).tanh() @ self.context)[:, :, None]
        weight_BT1 = score_BT1.masked_fill(~real(hidden, lengths), -float("inf")).softmax(1)
        note("pooling", weight_BT1[:, :, 0])
        return (weight_BT1 * hidden).sum(1)
