"""The selective state space of Mamba: a linear recurrence whose step, input and output depend on the token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Cell, Recurrent
from chainrule.parts.mixers._scan import exact, scan
from chainrule.parts.mixers._short import ShortConvolution
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import watched

SHORTEST, LONGEST = 1e-3, 1e-1  # steps Δ at the beginning
AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 26}  # numbers of states: a text that has more is read in several stretches


@dataclass(frozen=True)
class SpaceState:
    """(B, F · N) states, and the (B, kernel − 1, F) inputs that the convolution still sees."""

    h: Tensor
    inputs: Tensor


@part
class SelectiveStateSpace(Recurrent):
    r"""A state of N numbers for each of the inputs, whose decay, input and output are chosen by the token.

    h_t = exp(Δ_t A) ⊙ h_{t−1} + Δ_t u_t B_tᵀ,   s_t = h_t C_t + E ⊙ u_t,   y_t = W_o (s_t ⊙ SiLU(W_z x_t))
    u = SiLU(convolution(W_u x)),   Δ_t = softplus(V V′ u_t + b),   B_t, C_t = W_B u_t, W_C u_t,   A = −exp(Â)

    Gu & Dao 2023 (Mamba), arXiv:2312.00752, §3.2 and §3.4: N = `states`, u has `expand` · D numbers, V′ makes D/16 of
    them. There one kernel keeps h in fast memory; here h of a stretch of text exists whole, and is computed again where
    there are several, for the gradient. A starts as −1, …, −N, softplus(b) spread evenly over the powers of ten
    from 0.001 to 0.1, E at 1, W_o as N(0, 1/(F · depth)), other weights as N(0, 1/inputs).
    """

    def __init__(self, place: Place, *, states: int = 16, expand: int = 2, kernel: int = 4,
                 directions: Literal[1, 2] | None = None):
        for name, value in (("states", states), ("expand", expand)):
            if value < 1:
                raise OptionError(f"SelectiveStateSpace.{name}", value, "at least 1")
        super().__init__(place, directions,
                         lambda inputs, hidden: MambaCell(inputs, hidden, states, expand * hidden, kernel, place.depth))


class MambaCell(Cell):
    """The equations, for all tokens of a stretch at once."""

    def __init__(self, inputs: int, hidden: int, states: int, inner: int, kernel: int, depth: int):
        super().__init__(hidden)
        self.inner, self.states, self.rank = inner, states, math.ceil(inputs / 16)
        self.inward = Linear(inputs, 2 * inner, bias=False)
        self.convolution = ShortConvolution("SelectiveStateSpace", inner, kernel)
        self.chosen = Linear(inner, self.rank + 2 * states, bias=False)  # V′, W_B, W_C
        self.step_size = Linear(self.rank, inner)  # V, b
        self.log_decay = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(inner))  # Â, no matrix
        self.direct = nn.Parameter(torch.ones(inner))  # E
        self.outward = Linear(inner, hidden, bias=False, depth=depth)
        with torch.no_grad():
            steps = torch.logspace(math.log10(SHORTEST), math.log10(LONGEST), inner)
            self.step_size.bias.copy_(steps + torch.log(-torch.expm1(-steps)))  # the inverse of softplus

    def start(self, batch: int, like: Tensor) -> SpaceState:
        return SpaceState(exact(like.new_zeros(batch, self.inner * self.states)), self.convolution.start(batch, like))

    def forward(self, x: Tensor, state: SpaceState) -> tuple[Tensor, dict[str, Tensor], SpaceState]:
        u, open_ = self.inward(x).chunk(2, dim=-1)
        u, seen = self.convolution(u, state.inputs)
        u = F.silu(u)
        step, b, c = self.chosen(u).split([self.rank, self.states, self.states], dim=-1)
        delta = F.softplus(exact(self.step_size(step)))
        s, h = self._stretches(delta, exact(u), exact(b), exact(c), state.h.to(delta.dtype))
        gate = F.silu(open_)
        y = self.outward((s.to(x.dtype) + self.direct.to(x.dtype) * u.to(x.dtype)) * gate.to(x.dtype))
        shown = {"hidden": s, "step_size": delta, "output_gate": gate} if watched() else {}
        return y, shown, SpaceState(h, seen)

    def _stretches(self, delta: Tensor, u: Tensor, b: Tensor, c: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, F) outputs and the last state; so much of the text at once that its states are not too many."""
        size = max(1, AT_ONCE.get(h.device.type, AT_ONCE["cpu"]) // max(1, h.numel()))
        if delta.shape[1] <= size or watched():
            return self._stretch(delta, u, b, c, h)
        found = []
        for piece in zip(*(each.split(size, dim=1) for each in (delta, u, b, c)), strict=True):
            s, h = checkpoint(self._stretch, *piece, h, use_reentrant=False)
            found.append(s)
        return torch.cat(found, dim=1), h

    def _stretch(self, delta: Tensor, u: Tensor, b: Tensor, c: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        decay = exact(self.log_decay).exp().unflatten(0, (self.inner, self.states))
        a = torch.exp(delta[..., None] * -decay).flatten(2)
        put = ((delta * u)[..., None] * b[:, :, None]).flatten(2)
        all_h = scan(a, put, h)
        s = torch.einsum("btfn,btn->btf", all_h.unflatten(2, (self.inner, self.states)), c)
        return s, all_h[:, -1] if all_h.shape[1] else h
