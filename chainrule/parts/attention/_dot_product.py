"""Scaled dot-product attention: the fused kernel, or the equation itself while the model is watched."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.watching import note, watched


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, causal: bool, dropout: float = 0.0) -> Tensor:
    """y_i = Σ_j softmax_j(q_i·k_j / √E + mask_ij) v_j; q is (B, H, Q, E), k and v (B, groups, K, E).

    `causal` is for as many queries as keys and no mask; other cases need a mask. Vaswani et al. 2017, eq. 1.
    """
    if not watched():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=causal,
                                              enable_gqa=bool(q.shape[1] != k.shape[1]))  # a symbol where compiled
    if causal:
        mask = q.new_full((q.shape[2], k.shape[2]), -torch.inf).triu(1)
    return plainly(q, k, v, mask, dropout)


def plainly(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """The equation step by step; a fused kernel could not note the weights."""
    k, v = (each.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for each in (k, v))
    score_BHQK = torch.einsum("bhqe,bhke->bhqk", q, k) * q.shape[-1]**-0.5
    weight_BHQK = (score_BHQK if mask is None else score_BHQK + mask).softmax(-1)
    note("attention", weight_BHQK)
    return torch.einsum("bhqk,bhke->bhqe", F.dropout(weight_BHQK, dropout), v)
