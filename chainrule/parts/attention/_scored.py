"""Attention from scores of one's own: mask, softmax, and the weighted sum of values."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.attention._masks import mask_of
from chainrule.parts.reading import Reading
from chainrule.watching import note


def for_each_head(keys: Tensor, heads: int) -> Tensor:
    """(B, groups, K, E) to (B, H, K, E): each group serves several heads."""
    return keys if keys.shape[1] == heads else keys.repeat_interleave(heads // keys.shape[1], dim=1)


def weighed(score_BHQK: Tensor, q: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading, *,
            dropout: float) -> Tensor:
    """y_i = Σ_j softmax_j(score_ij) v_j over the keys that may be seen; q only says which type and shape they have."""
    mask, causal = mask_of(q, q_pos, k_pos, reading)
    if causal:
        mask = q.new_full((q.shape[2], score_BHQK.shape[3]), -torch.inf).triu(1)
    weight_BHQK = (score_BHQK if mask is None else score_BHQK + mask).softmax(-1)
    note("attention", weight_BHQK)
    return torch.einsum("bhqk,bhke->bhqe", F.dropout(weight_BHQK, dropout), for_each_head(v, q.shape[1]))
