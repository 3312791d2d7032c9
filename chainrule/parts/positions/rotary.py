"""Rotary positions: queries and keys are turned by an angle that grows with their place."""

import torch
from torch import Tensor

from chainrule.parts.positions._position import Position
from chainrule.registry import part


@part
class Rotary(Position):
    r"""(x₂ᵢ, x₂ᵢ₊₁) ↦ R(t θᵢ)(x₂ᵢ, x₂ᵢ₊₁),  θᵢ = base^(−2i/E): q_m·k_n depends on m − n alone.

    Su et al. 2021, arXiv:2104.09864, eq. 13–15; pairs are (i, i + E/2), as in most implementations.
    """

    def __init__(self, width: int, heads: int, context: int, *, base: float = 10_000.0):
        super().__init__(width, heads, context)
        self.base = base

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        theta = self.base ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
        angle_TE = positions[:, None].float() * theta
        cos, sin = angle_TE.cos().to(x.dtype), angle_TE.sin().to(x.dtype)
        one, other, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
        return torch.cat([one * cos - other * sin, one * sin + other * cos, rest], dim=-1)
