"""Shaw's relative attention: learned vectors of distances for keys and for values."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.attention._distances import Distances
from chainrule.parts.attention._scored import scaled_dot, summed_values, weights_of
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Shaw(nn.Module):
    r"""A learned vector for each distance is added to the key that stands there, and another to its value.

    y_i = Σ_j w_ij (v_j + b_{i−j}),   w_ij = softmax_j(q_i·(k_j + a_{i−j}) / √E)

    Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155, eq. 3 and 4: the same a and b for all heads of a sublayer, what is
    beyond `furthest` counts as that far. `relative` has vectors for keys only, for each head, and the fused kernel. a
    and b start as N(0, deviation²).
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # queries and keys must have positions in common

    def __init__(self, place: Place, *, furthest: int = 16, deviation: float = 0.02):
        super().__init__()
        self.distances, self.dropout = Distances.up_to("Shaw", furthest, place.causal), place.dropout
        self.of_keys, self.of_values = (
            nn.Parameter(torch.randn(1, self.distances.count, place.head_width) * deviation) for _ in range(2))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        wanted_BHQK = self.distances.scores(q, self.of_keys, q_pos, k_pos) * q.shape[-1]**-0.5
        weight_BHQK = weights_of(scaled_dot(q, k) + wanted_BHQK, q, q_pos, k_pos, reading)
        weight_BHQK = F.dropout(weight_BHQK, self.dropout if self.training else 0.0)
        number_BQK = self.distances.numbers(q_pos, k_pos)[:, None].expand_as(weight_BHQK)
        by_distance = weight_BHQK.new_zeros(*q.shape[:3], self.distances.count).scatter_add(-1, number_BQK, weight_BHQK)
        return summed_values(weight_BHQK, v) + (by_distance @ self.of_values.to(by_distance.dtype)).to(v.dtype)
