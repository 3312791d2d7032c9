"""The block of gMLP: a feedforward half of which is gated by the other half of all positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._along import AlongTime
from chainrule.parts.mixers._cache import Cache
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class GMLP(nn.Module):
    r"""A feedforward whose hidden numbers are gated by a learned sum over positions, in the place of attention.

    y_t = V (a_t ⊙ (b_t + Σ_s W_{t,s} LayerNorm(g_s))) + c,   [a_t; g_t] = GeLU(U x_t + d)

    Liu et al. 2021, arXiv:2105.08050, §2, eq. 1–5; W (context × context) is triangular where the text is read from left
    to right. a and g have `expand` · D numbers each. W starts as N(0, 10⁻⁶), near 0, and b at 1, so that it begins as a
    plain feedforward; U as N(0, 1/D), V as N(0, 1/(expand · D · depth)), c and d at 0. Padding is read as zeros.
    """

    bounded = True  # its matrix has so many rows, and what it has read is kept

    def __init__(self, place: Place, *, expand: int = 2):
        super().__init__()
        if expand < 1:
            raise OptionError("GMLP.expand", expand, "at least 1")
        self.inner = expand * place.width
        self.inward = Linear(place.width, 2 * self.inner)
        self.norm = nn.LayerNorm(self.inner)
        self.along = AlongTime(place)
        self.outward = Linear(self.inner, place.width, depth=place.depth)
        with torch.no_grad():
            self.along.weight.normal_(0.0, 1e-3)
            self.along.bias.fill_(1.0)

    def start(self, batch: int, room: int, like: Tensor) -> Cache:
        return self.along.start(batch, room, self.inner, like)

    def forward(self, x: Tensor, state: Cache | None, reading: Reading) -> tuple[Tensor, Cache | None]:
        value, given = F.gelu(self.inward(x)).chunk(2, dim=-1)
        gate, state = self.along(self.norm(given), state, reading)
        note("gate", gate)
        return self.outward(value * gate), state
