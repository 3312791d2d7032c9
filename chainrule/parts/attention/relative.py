"""Attention with relative positions: a learned vector for each distance is compared with the query."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
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
        if furthest < 1:
            raise OptionError("Relative.furthest", furthest, "at least 1", "1 tells a token from all before it.")
        self.furthest, self.causal, self.dropout = furthest, place.causal, place.dropout
        self.least = 0 if place.causal else -furthest  # the smallest distance i − j that has a vector of its own
        count = furthest - self.least + 1
        self.weight = nn.Parameter(torch.empty(place.heads, count, place.head_width).normal_(0.0, deviation))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        mask, causal = mask_of(q, q_pos, k_pos, reading)
        whole = q_pos is k_pos and len(q_pos) == 1  # the positions of a text from some place on, one after the other
        wanted_BHQK = (self.skewed(q) if whole else self.gathered(q, q_pos, k_pos)) * q.shape[-1]**-0.5
        if causal:
            mask = q.new_full((q.shape[2], k.shape[2]), -torch.inf).triu(1)
        bias = wanted_BHQK.to(q.dtype) if mask is None else wanted_BHQK.to(q.dtype) + mask
        return attend(q, k, v, bias, causal=False, dropout=self.dropout if self.training else 0.0)

    def gathered(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """(B, H, Q, K): q_i·r_{i−j} for queries and keys at any positions (B or 1, …)."""
        by_distance = torch.einsum("bhqe,hre->bhqr", q, self.weight)
        index_BQK = (q_pos[:, :, None] - k_pos[:, None, :]).clamp(self.least, self.furthest) - self.least
        return by_distance.gather(-1, index_BQK[:, None].expand(*q.shape[:3], k_pos.shape[1]))

    def skewed(self, q: Tensor) -> Tensor:
        """(B, H, T, T): the same for a whole text; above a causal reader's diagonal stands anything.

        A row of scores by distance, from the furthest key on, is one place further right for each query before it; a
        column of padding and another shape of the same numbers moves them there.
        """
        rows, heads, time = q.shape[:3]
        last = 0 if self.causal else 1 - time
        distance = torch.arange(time - 1, last - 1, -1, device=q.device).clamp(self.least, self.furthest)
        by_distance = torch.einsum("bhqe,hre->bhqr", q, self.weight[:, distance - self.least])
        if self.causal:
            padded = F.pad(by_distance, (1, 0)).view(rows, heads, time + 1, time)
            return padded[:, :, 1:]
        flat = F.pad(F.pad(by_distance, (0, 1)).view(rows, heads, 2 * time * time), (0, max(0, time - 1)))
        return flat.view(rows, heads, time + 1, 2 * time - 1)[:, :, :time, time - 1:]
