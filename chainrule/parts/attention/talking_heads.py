"""Talking heads: heads mix their scores before the softmax, and their weights after it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.attention._scored import scaled_dot, summed_values, weights_of
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class TalkingHeads(nn.Module):
    r"""Heads mix their scores before the softmax, and their weights after it.

    y_{h,i} = Σ_j w′_{h,i,j} v_{h,j},   w′ = P_w w,   w = softmax_j(P_l s),   s_{h,i,j} = q_{h,i}·k_{h,j} / √E

    Shazeer et al. 2020, arXiv:2003.02436, §4, with as many heads of scores and of weights as of queries and of values.
    Biases of positions are added to the mixed scores. P_l and P_w start as the identity plus N(0, deviation²): near
    ordinary attention.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place, *, deviation: float = 0.02):
        super().__init__()
        self.dropout = place.dropout
        self.of_scores, self.of_weights = (
            nn.Parameter(torch.eye(place.heads) + torch.randn(place.heads, place.heads) * deviation) for _ in range(2))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        mixed_BHQK = torch.einsum("gh,bhqk->bgqk", self.of_scores, scaled_dot(q, k))
        weight_BHQK = weights_of(mixed_BHQK, q, q_pos, k_pos, reading)
        weight_BHQK = torch.einsum("gh,bhqk->bgqk", self.of_weights, weight_BHQK)
        return summed_values(F.dropout(weight_BHQK, self.dropout if self.training else 0.0), v)
