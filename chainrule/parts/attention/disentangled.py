"""DeBERTa's disentangled attention: content with content, content with distance, and distance with content."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._distances import Distances, gathered
from chainrule.parts.attention._scored import for_each_head, scaled_dot, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Disentangled(nn.Module):
    r"""Content is compared with content, what the query wants with the distance, and the distance with the key.

    s_ij = (q_i·k_j + q_i·a_{i−j} + k_j·b_{i−j}) / √(3E)

    He et al. 2021, arXiv:2006.03654, §3.1, eq. 4. There a and b are two projections of one table for all layers; here
    they are tables of each head and sublayer, and k_j meets the distance that the query counts, i − j. What is beyond
    `furthest` counts as that far. a and b start as N(0, deviation²).
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # queries and keys must have positions in common

    def __init__(self, place: Place, *, furthest: int = 128, deviation: float = 0.02):
        super().__init__()
        self.distances, self.dropout = Distances.up_to("Disentangled", furthest, place.causal), place.dropout
        self.for_queries, self.for_keys = (
            nn.Parameter(torch.randn(place.heads, self.distances.count, place.head_width) * deviation)
            for _ in range(2))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        number_BQK = self.distances.numbers(q_pos, k_pos)
        wanted_BHQK = self.distances.scores(q, self.for_queries, q_pos, k_pos)
        offered_BHKQ = gathered(for_each_head(k, q.shape[1]), self.for_keys, number_BQK.transpose(1, 2))
        by_distance = (wanted_BHQK + offered_BHKQ.transpose(2, 3)) * q.shape[-1]**-0.5
        score_BHQK = (scaled_dot(q, k) + by_distance) * 3**-0.5
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
