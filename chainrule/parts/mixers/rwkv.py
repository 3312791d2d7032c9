"""The time mixing of RWKV: a weighted mean of all values so far, whose weights fade at a speed of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Cell, Recurrent
from chainrule.parts.mixers._scan import exact, scan
from chainrule.parts.mixers._shift import first_shares, mixed, shifted
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import watched

NEVER = -1e30  # the exponent of a sum that has no terms yet


@dataclass(frozen=True)
class Means:
    """Both sums of the mean (B, 2 D), divided by the exponential of `top` (B, D), and the last input (B, inputs)."""

    sums: Tensor
    top: Tensor
    last: Tensor


@part
class RWKV(Recurrent):
    r"""A mean of all values so far, weighed by their keys and by how long ago they were, through a gate.

    y_t = W_o (σ(r_t) ⊙ m_t),   m_t = (Σ_{i<t} e^{−(t−1−i) w + k_i} v_i + e^{u+k_t} v_t) / (the same sums without v)
    r, k, v = W_r x̃, W_k x̃, W_v x̃,   x̃_t = μ ⊙ x_t + (1 − μ) ⊙ x_{t−1}   with another μ for each,   w = exp(ŵ)

    Peng et al. 2023 (RWKV-4), arXiv:2305.13048, §3.1. Sums are divided by the exponential of their largest term, so
    that none overflows. ŵ, u and μ start as in the authors' code; W_r, W_k and W_v as N(0, 1/D), where some are 0
    there, and W_o as N(0, 1/(D · depth)).
    """

    def __init__(self, place: Place, *, directions: Literal[1, 2] | None = None):
        super().__init__(place, directions, lambda inputs, hidden: RWKVCell(inputs, hidden, place))


class RWKVCell(Cell):
    """The equations, for all tokens at once."""

    def __init__(self, inputs: int, hidden: int, place: Place):
        super().__init__(hidden)
        level, shares = place.index / max(1, place.depth - 1), first_shares(inputs, place.index, place.depth)
        self.shares = nn.ParameterList([first_shares(inputs, place.index, place.depth, 0.5), shares,
                                        shares + 0.3 * level])  # μ of r, k, v
        self.receptance, self.key, self.value = (Linear(inputs, hidden, bias=False) for _ in range(3))
        along = torch.arange(hidden)
        self.decay = nn.Parameter(8 * (along / max(1, hidden - 1)) ** (0.7 + 1.3 * level) - 5)  # ŵ
        self.bonus = nn.Parameter(math.log(0.3) + 0.5 * ((along + 1) % 3 - 1))  # u
        self.outward = Linear(hidden, hidden, bias=False, depth=place.depth)

    def start(self, batch: int, like: Tensor) -> Means:
        top = exact(like.new_full((batch, self.hidden), NEVER))
        return Means(top.new_zeros(batch, 2 * self.hidden), top, like.new_zeros(batch, self.key.in_features))

    def forward(self, x: Tensor, state: Means) -> tuple[Tensor, dict[str, Tensor], Means]:
        before, last = shifted(x, state.last)
        r, k, v = (exact(each(mixed(x, before, share))) for each, share in
                   zip((self.receptance, self.key, self.value), self.shares, strict=True))
        mean, sums, top = weighted_mean(k, v, exact(self.decay).exp(), exact(self.bonus), state)
        gate = r.sigmoid()
        y = self.outward((gate * mean).to(x.dtype))
        shown = {"hidden": mean, "key": k, "output_gate": gate} if watched() else {}
        return y, shown, Means(sums, top, last)


def weighted_mean(k: Tensor, v: Tensor, w: Tensor, u: Tensor, state: Means) -> tuple[Tensor, Tensor, Tensor]:
    """(B, T, D) means, then both sums after the last token and what they are divided by.

    q_t = max(q_{t−1} − w, k_t) is the largest exponent so far. The mean is the same for any q, so its gradient is 0.
    """
    with torch.no_grad():
        faded = w * torch.arange(1, k.shape[1] + 1, device=k.device)[:, None]
        first = state.top.to(k.dtype)[:, None]
        q = torch.maximum((k + faded).cummax(1).values, first) - faded
        q_before = torch.cat([first, q], dim=1)[:, :-1]
        largest = torch.maximum(q_before, u + k)
    kept, new = torch.exp(q_before - w - q), torch.exp(k - q)
    first_sums = state.sums.to(k.dtype)
    sums = scan(torch.cat([kept, kept], dim=-1), torch.cat([new * v, new], dim=-1), first_sums)
    above, below = torch.cat([first_sums[:, None], sums], dim=1)[:, :-1].chunk(2, dim=-1)
    old, own = torch.exp(q_before - largest), torch.exp(u + k - largest)
    mean = (old * above + own * v) / (old * below + own)
    return (mean, sums[:, -1], q[:, -1]) if k.shape[1] else (mean, first_sums, state.top)
