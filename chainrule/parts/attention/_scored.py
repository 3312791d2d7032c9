"""Attention from scores of one's own: mask, softmax, and the weighted sum of values."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
from chainrule.parts.reading import Reading
from chainrule.watching import note


def for_each_head(keys: Tensor, heads: int) -> Tensor:
    """(B, groups, K, E) to (B, H, K, E): each group serves several heads."""
    return keys if keys.shape[1] == heads else keys.repeat_interleave(heads // keys.shape[1], dim=1)


def scaled_dot(q: Tensor, k: Tensor) -> Tensor:
    """(B, H, Q, K): q_i·k_j / √E."""
    return torch.einsum("bhqe,bhke->bhqk", q, for_each_head(k, q.shape[1])) * q.shape[-1]**-0.5


def weights_of(score_BHQK: Tensor, q: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
    """softmax_j(score_ij) over the keys that may be seen; q only says which type and length they have."""
    mask = added_mask(q, q_pos, k_pos, reading)
    weight_BHQK = (score_BHQK if mask is None else score_BHQK + mask).softmax(-1)
    note("attention", weight_BHQK)
    return weight_BHQK


def added_mask(q: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor | None:
    """What is added to scores of any kind: −∞ at keys that must not be seen, and the bias of positions."""
    mask, causal = mask_of(q, q_pos, k_pos, reading)
    return q.new_full((q.shape[2], k_pos.shape[1]), -torch.inf).triu(1) if causal else mask


def with_scores(more_BHQK: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """y_i = Σ_j softmax_j(q_i·k_j / √E + more_ij + mask_ij) v_j by the fused kernel."""
    more_BHQK = more_BHQK.to(q.dtype)
    return attend(q, k, v, more_BHQK if mask is None else more_BHQK + mask, causal=False, dropout=dropout)


def weighed(score_BHQK: Tensor, q: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading, *,
            dropout: float) -> Tensor:
    """y_i = Σ_j softmax_j(score_ij) v_j over the keys that may be seen."""
    weight_BHQK = weights_of(score_BHQK, q, q_pos, k_pos, reading)
    return summed_values(F.dropout(weight_BHQK, dropout), v)


def summed_values(weight_BHQK: Tensor, v: Tensor) -> Tensor:
    """y_i = Σ_j weight_ij v_j."""
    return torch.einsum("bhqk,bhke->bhqe", weight_BHQK, for_each_head(v, weight_BHQK.shape[1]))
