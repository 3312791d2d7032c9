"""Sine and cosine waves of growing length: what sinusoidal positions are made of."""

from __future__ import annotations

import torch
from torch import Tensor


def waves(positions: Tensor, width: int, base: float) -> Tensor:
    """(B or 1, T, D): [t, 2i] = sin(t / base^(2i/D)), [t, 2i+1] = cos(t / base^(2i/D)), in float32."""
    even = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32)
    angle = positions[..., None].float() * base ** (-even / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)[..., :width]
