"""A learned matrix over positions: how MLP-Mixer and gMLP move information along time."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.mixers._cache import Cache, extended
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading


class AlongTime(nn.Module):
    """y_t = b_t + Σ_s W_{t,s} x_s   over   s ≤ t,   or over all s where both sides are read.

    W belongs to the first `context` positions; a shorter text has its first rows and columns. The past inputs are kept
    for the next token.
    """

    def __init__(self, place: Place):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(place.context, place.context)), nn.Parameter(
            torch.zeros(place.context))

    def spread_evenly(self, causal: bool, depth: int = 1) -> None:
        """Row t starts as N(0, 1/(inputs that it sees · depth)), so that all outputs have the same variance."""
        size = len(self.weight)
        seen = torch.arange(1, size + 1) if causal else torch.full((size,), size)
        with torch.no_grad():
            self.weight.normal_().mul_((seen.to(self.weight) * depth).rsqrt()[:, None])

    def start(self, batch: int, room: int, width: int, like: Tensor) -> Cache:
        return Cache(like.new_zeros(batch, room, 1, width))

    def forward(self, x: Tensor, state: Cache | None, reading: Reading) -> tuple[Tensor, Cache | None]:
        """(B, T, D) of (B, T, D)."""
        time, size = x.shape[1], len(self.weight)
        if time > size:
            raise OptionError("model.context", size, f"at least {time}, the positions that are read at once")
        if state is None:
            return self._whole(x, reading), None
        assert reading.causal and reading.positions is not None
        entries, k_pos, state = extended(state, x[:, :, None], reading)
        q_pos = reading.positions.clamp(max=size - 1)
        near_BQK = k_pos[:, None] <= q_pos[:, :, None]
        weight_BQK = self.weight[q_pos[:, :, None], k_pos[:, None].clamp(max=size - 1)].masked_fill(~near_BQK, 0)
        return weight_BQK.to(x.dtype) @ entries[:, :, 0].to(x.dtype) + self.bias[q_pos][:, :, None].to(x.dtype), state

    def _whole(self, x: Tensor, reading: Reading) -> Tensor:
        time, real = x.shape[1], None if reading.causal else reading.real(x.shape[1])
        x = x if real is None else x.masked_fill(~real[:, :, None], 0)
        weight_TT = self.weight[:time, :time]
        return (weight_TT.tril() if reading.causal else weight_TT).to(x.dtype) @ x + self.bias[:time, None].to(x.dtype)
