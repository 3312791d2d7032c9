"""Attention whose scores come from a multi-layer perceptron over query, key and their product."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._scored import for_each_head, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class MLPScore(nn.Module):
    r"""Two hidden layers compare query and key, and see their product too.

    y_i = Σ_j softmax_j(u·relu(W₂ relu(W q_i + V k_j + U (q_i ⊙ k_j)))) v_j,   one of each for each head

    The lectures' multi-layer perceptron over [q; k], with a second layer and the product of Seo et al. 2017,
    arXiv:1611.01603, §2.4; `additive` has one layer. Matrices and u start as N(0, 2/E): relu halves the variance.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place):
        super().__init__()
        width, heads = place.head_width, place.heads
        self.dropout = place.dropout
        self.of_query, self.of_key, self.of_product, self.inner = (
            nn.Parameter(torch.randn(heads, width, width) * (2 / width)**0.5) for _ in range(4))
        self.vector = nn.Parameter(torch.randn(heads, width) * (2 / width)**0.5)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        k = for_each_head(k, q.shape[1])
        query_BHQE = torch.einsum("bhqe,hef->bhqf", q, self.of_query)
        key_BHKE = torch.einsum("bhke,hef->bhkf", k, self.of_key)
        product_BHQKE = torch.einsum("bhqe,bhke,hef->bhqkf", q, k, self.of_product)
        hidden_BHQKE = (query_BHQE[:, :, :, None] + key_BHKE[:, :, None] + product_BHQKE).relu()
        hidden_BHQKE = torch.einsum("bhqke,hef->bhqkf", hidden_BHQKE, self.inner).relu()
        score_BHQK = torch.einsum("bhqke,he->bhqk", hidden_BHQKE, self.vector)
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
