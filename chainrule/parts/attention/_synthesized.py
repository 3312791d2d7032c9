"""Synthetic scores: what all Synthesizers do with scores that come from no comparison of tokens."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.attention._scored import scaled_dot, weighed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading

Dot = Literal["none", "plus", "plus_alpha"]


class Synthesized(nn.Module):
    """Scores by places of the text, alone or with dot products: their sum, or a learned mixture.

    none: s,   plus: s + d,   plus_alpha: α s + (1 − α) d,   d_ij = q_i·k_j / √E,   α = σ(a), a starts at 0

    A kind of it says how `synthetic` scores are made, and whether it `makes_from_queries`.
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # scores belong to places of the text, not to those of a source
    makes_from_queries = False

    def __init__(self, place: Place, dot: Dot):
        super().__init__()
        self.context, self.heads, self.dropout, self.dot = place.context, place.heads, place.dropout, dot
        self.uses_keys = dot != "none"
        self.uses_queries = self.uses_keys or self.makes_from_queries
        self.alpha = nn.Parameter(torch.zeros(())) if dot == "plus_alpha" else None

    def synthetic(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """(B or 1, H, Q, K) for queries (B, H, Q, E) at places (B or 1, Q) and keys at places (B or 1, K)."""
        raise NotImplementedError

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        last = self.context - 1  # what lies behind it is never seen
        score_BHQK = self.synthetic(q, q_pos.clamp(max=last), k_pos.clamp(max=last)).to(v.dtype)
        if self.alpha is not None:
            alpha = self.alpha.sigmoid()
            score_BHQK = alpha * score_BHQK + (1 - alpha) * scaled_dot(q, k)
        elif self.dot == "plus":
            score_BHQK = score_BHQK + scaled_dot(q, k)
        score_BHQK = score_BHQK.expand(len(v), -1, -1, -1)
        return weighed(score_BHQK, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)


def at_keys(score_BHQT: Tensor, k_pos: Tensor) -> Tensor:
    """(B, H, Q, context) to (B, H, Q, K): the scores of the places where there are keys."""
    if len(k_pos) == 1:
        return score_BHQT[..., k_pos[0]]
    return score_BHQT.gather(-1, k_pos[:, None, None].expand(*score_BHQT.shape[:3], -1))
