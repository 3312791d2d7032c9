"""The token shift of RWKV: each number of an input is mixed with the same number of the input before."""

from __future__ import annotations

import torch
from torch import Tensor


def shifted(x: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """(B, T, D): the input before each, where `last` (B, D) was read before the first; and the last of these."""
    whole = torch.cat([last.to(x.dtype)[:, None], x], dim=1)
    return whole[:, :-1], whole[:, -1]


def mixed(x: Tensor, before: Tensor, share: Tensor) -> Tensor:
    """μ ⊙ x_t + (1 − μ) ⊙ x_{t−1}."""
    return torch.lerp(before, x, share.to(x.dtype))


def first_shares(width: int, index: int, depth: int, power: float = 1.0) -> Tensor:
    """μ_i = (i/D)^{power · (1 − index/depth)}: a gradual change over the width, and nearer to 1 in higher layers."""
    return (torch.arange(width) / width) ** (power * (1 - index / depth))
