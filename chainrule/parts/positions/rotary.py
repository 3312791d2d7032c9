"""Rotary positions: queries and keys are turned by an angle that grows with their place."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.recipe.registry import part


@part
class Rotary(Position):
    r"""Queries and keys are turned by an angle that grows with their place.

    (x₂ᵢ, x₂ᵢ₊₁) ↦ R(t θᵢ)(x₂ᵢ, x₂ᵢ₊₁),  θᵢ = base^(−2i/E): q_m·k_n depends on m − n alone.

    Su et al. 2021, arXiv:2104.09864, eq. 13–15; pairs are (i, i + E/2), as in most implementations. Angles are computed
    in float32 whatever the model computes in; the last number of an odd head stays as it is.
    """

    angles: Tensor  # a turn by one position, for each number of a head

    def __init__(self, place: Place, *, base: float = 10_000.0):
        super().__init__(place)
        self.base = base
        self.register_buffer("angles", per_position(place.head_width, base), persistent=False)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        """y = x cos + x′ sin, where x′ has the numbers of each pair exchanged; the sign is in the angle."""
        width = x.shape[-1]
        angles = self.angles if width == len(self.angles) else per_position(width, self.base).to(x.device)
        angle_BTE = (positions[:, :, None] * angles)[:, None]
        half = width // 2
        exchanged = x.roll(half, -1) if width % 2 == 0 else torch.cat([x[..., half:-1], x[..., :half], x[..., -1:]], -1)
        return torch.addcmul(x * angle_BTE.cos().to(x.dtype), exchanged, angle_BTE.sin().to(x.dtype))

    def _apply(self, fn: Any, recurse: bool = True) -> Rotary:
        """Moves to another device, but never to another kind of number."""
        super()._apply(fn, recurse)
        self.angles = per_position(len(self.angles), self.base).to(self.angles.device)
        return self


def per_position(width: int, base: float) -> Tensor:
    """(E,): −θᵢ for the first of each pair, θᵢ for the second, 0 for what has no partner; in float32."""
    half = width // 2
    theta = base ** (-torch.arange(half, dtype=torch.float32) / max(half, 1))
    return torch.cat([-theta, theta, torch.zeros(width % 2)])
