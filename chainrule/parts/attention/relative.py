"""Attention with relative positions: a learned vector for each distance is compared with the query."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._distances import Distances
from chainrule.parts.attention._scored import added_mask, with_scores
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Relative(nn.Module):
    r"""Every key is weighed by its likeness to the query, and by what the query wants from its distance.

    y_i = Σ_j softmax_j((q_i·k_j + q_i·r_{i−j}) / √E) v_j,   r of a distance beyond `furthest` is that of `furthest`

    Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155, eq. 5, without their vectors for values; one r for each head, and
    of a whole text the skew of Huang et al. 2018, arXiv:1809.04281, §3.4: memory T·E for the vectors, not T²·E. r
    starts as N(0, deviation²). A causal reader has distances from 0 on, a reader of both sides also those after it.
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # queries and keys must have positions in common

    def __init__(self, place: Place, *, furthest: int = 128, deviation: float = 0.02):
        super().__init__()
        self.distances, self.dropout = Distances.up_to("Relative", furthest, place.causal), place.dropout
        shape = (place.heads, self.distances.count, place.head_width)
        self.weight = nn.Parameter(torch.empty(shape).normal_(0.0, deviation))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        wanted_BHQK = self.distances.scores(q, self.weight, q_pos, k_pos) * q.shape[-1]**-0.5
        mask = added_mask(q, q_pos, k_pos, reading)
        return with_scores(wanted_BHQK, q, k, v, mask, self.dropout if self.training else 0.0)
