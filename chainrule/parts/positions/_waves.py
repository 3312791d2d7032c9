"""Sine and cosine waves of growing length: what sinusoidal positions are made of."""

from __future__ import annotations

import torch
from torch import Tensor


def waves(positions: Tensor, width: int, base: float) -> Tensor:
    """(B or 1, T, D): [t, 2i] = sin(t / base^(2i/D)), [t, 2i+1] = cos(t / base^(2i/D)), in float32."""
    return waves_of(positions, frequencies(width, base, positions.device))[..., :width]


def frequencies(width: int, base: float, device: torch.device | None = None, dtype: torch.dtype = torch.float32
                ) -> Tensor:
    """(⌈D/2⌉,): base^(−2i/D); on torch's usual device unless one is named, never in less than float32."""
    exact = torch.promote_types(dtype, torch.float32)
    return base ** (-torch.arange(0, width, 2, device=device, dtype=exact) / width)


def waves_of(positions: Tensor, frequency: Tensor) -> Tensor:
    """(B or 1, T, 2 F): sine and cosine of t times each of F frequencies, never in less than float32."""
    sine, cosine = turns_of(positions, frequency)
    return torch.stack([sine, cosine], dim=-1).flatten(-2)


def turns_of(positions: Tensor, frequency: Tensor) -> tuple[Tensor, Tensor]:
    """(B or 1, T, F) each: sine and cosine of t times each frequency, never in less than float32."""
    exact = torch.promote_types(frequency.dtype, torch.float32)
    angle = positions[..., None].to(exact) * frequency.to(exact)
    return angle.sin(), angle.cos()
