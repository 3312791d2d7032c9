"""Bilinear attention: a learned matrix between query and key."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._scored import for_each_head, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class General(nn.Module):
    r"""A matrix between query and key says which of their features belong together.

    y_i = Σ_j softmax_j(qᵢᵀ W k_j) v_j,   one W for each head

    Luong, Pham & Manning 2015, arXiv:1508.04025, eq. 8, "general". W starts as the identity times 1/√E plus
    N(0, 1/E²): near scaled dot products.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place):
        super().__init__()
        width = place.head_width
        self.dropout = place.dropout
        start = torch.eye(width) * width**-0.5
        self.weight = nn.Parameter(start + torch.randn(place.heads, width, width) / width)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        turned = torch.einsum("bhqe,hef->bhqf", q, self.weight)
        score_BHQK = torch.einsum("bhqf,bhkf->bhqk", turned, for_each_head(k, q.shape[1]))
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
