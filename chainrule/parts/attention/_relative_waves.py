"""A wave vector for each distance, compared with the query; positions may be any, and no score is made twice."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
from chainrule.parts.positions._waves import turns_of, waves_of
from chainrule.parts.reading import Reading


def attend_by_waves(q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading, *,
                    frequency: Tensor, dropout: float) -> Tensor:
    """y_i = Σ_j softmax_j((q_i·k_j + q_i·r_{i−j}) / √E) v_j,   r_{d,2n} = sin(ω_n d),   r_{d,2n+1} = cos(ω_n d).

    A query that is turned by its own position and a wave at the key's make the same product, so heads of twice the
    width do for the fused kernel, values with zeros behind them: nothing has the size of all pairs.
    """
    turned = turned_queries(q, q_pos, frequency)
    wave = waves_of(k_pos, frequency).to(k.dtype)[:, None].expand(len(k), k.shape[1], -1, -1)
    wide_q, wide_k = torch.cat([q, turned], dim=-1), torch.cat([k, wave], dim=-1)
    width, more = q.shape[-1], turned.shape[-1]
    mask, causal = mask_of(q, q_pos, k_pos, reading)
    y = attend(wide_q * (1 + more / width)**0.5, wide_k, F.pad(v, (0, more)), mask, causal=causal, dropout=dropout)
    return y[..., :width]


def turned_queries(q: Tensor, q_pos: Tensor, frequency: Tensor) -> Tensor:
    """(B, H, Q, 2 F): what makes with the wave at j the product q_i·r_{i−j}.

    a sin ω(i−j) + b cos ω(i−j) = sin ωj (b sin ωi − a cos ωi) + cos ωj (a sin ωi + b cos ωi)
    """
    sine, cosine = (each[:, None].to(q.dtype) for each in turns_of(q_pos, frequency))
    a, b = F.pad(q, (0, q.shape[-1] % 2)).unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([b * sine - a * cosine, a * sine + b * cosine], dim=-1).flatten(-2)
