"""Additive attention: a small network with one hidden layer compares query and key."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._scored import for_each_head, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Additive(nn.Module):
    r"""A hidden layer compares query and key.

    y_i = Σ_j softmax_j(u·tanh(W q_i + V k_j)) v_j,   one u, W, V for each head

    Bahdanau, Cho & Bengio 2015, arXiv:1409.0473, §A.1.2; Luong et al.'s "concat" is the same. W and V start as
    N(0, 1/E), u as N(0, 1/E). Memory and time are E times those of dot products.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place):
        super().__init__()
        width, heads = place.head_width, place.heads
        self.dropout = place.dropout
        self.of_query, self.of_key = (nn.Parameter(torch.randn(heads, width, width) * width**-0.5) for _ in range(2))
        self.vector = nn.Parameter(torch.randn(heads, width) * width**-0.5)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        query_BHQE = torch.einsum("bhqe,hef->bhqf", q, self.of_query)
        key_BHKE = torch.einsum("bhke,hef->bhkf", for_each_head(k, q.shape[1]), self.of_key)
        hidden_BHQKE = (query_BHQE[:, :, :, None] + key_BHKE[:, :, None]).tanh()
        score_BHQK = torch.einsum("bhqke,he->bhqk", hidden_BHQKE, self.vector)
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
