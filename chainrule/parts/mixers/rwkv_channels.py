"""The channel mixing of RWKV: a feedforward that also sees a little of the token before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._shift import first_shares, mixed, shifted
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class LastInput:
    """(B, D)."""

    x: Tensor


@part
class RWKVChannels(nn.Module):
    r"""A feedforward with a gate, whose input is mixed with the input before it.

    y_t = σ(W_r x̃_t) ⊙ W_v max(W_k x̃_t, 0)²,   x̃_t = μ ⊙ x_t + (1 − μ) ⊙ x_{t−1}   with another μ for r and k

    Peng et al. 2023 (RWKV-4), arXiv:2305.13048, §3.1; it stands behind each `rwkv`. W_k makes `expand` · D numbers.
    W_r and W_k start as N(0, 1/D), W_v as N(0, 1/(expand · D · depth)), μ as in the authors' code.
    """

    reads: Literal["causal"] = "causal"

    def __init__(self, place: Place, *, expand: int = 4):
        super().__init__()
        if expand < 1:
            raise OptionError("RWKVChannels.expand", expand, "at least 1")
        self.width = place.width
        shares = first_shares(place.width, place.index, place.depth)
        self.shares = nn.ParameterList([shares, shares.clone()])  # μ of r, k
        self.receptance = Linear(place.width, place.width, bias=False)
        self.key = Linear(place.width, expand * place.width, bias=False)
        self.value = Linear(expand * place.width, place.width, bias=False, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> LastInput:
        return LastInput(like.new_zeros(batch, self.width))

    def forward(self, x: Tensor, state: LastInput | None, reading: Reading) -> tuple[Tensor, LastInput | None]:
        before, last = shifted(x, x.new_zeros(len(x), self.width) if state is None else state.x)
        gate = self.receptance(mixed(x, before, self.shares[0])).sigmoid()
        hidden = self.key(mixed(x, before, self.shares[1])).relu().square()
        note("gate", gate)
        return gate * self.value(hidden), None if state is None else LastInput(last)
