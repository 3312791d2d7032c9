"""Dot-product attention without a scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._scored import for_each_head, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Dot(nn.Module):
    r"""Keys are weighed by their product with the query, as it is.

    y_i = Σ_j softmax_j(q_i·k_j) v_j

    Luong, Pham & Manning 2015, arXiv:1508.04025, eq. 8, "dot". Wide heads make the softmax sharp: `full` divides by √E.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place):
        super().__init__()
        self.dropout = place.dropout

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        score_BHQK = torch.einsum("bhqe,bhke->bhqk", q, for_each_head(k, q.shape[1]))
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
