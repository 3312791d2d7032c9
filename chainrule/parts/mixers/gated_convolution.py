"""Gated convolution: a few neighbors, weighed, through a gate."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._nearby import Last, nearby
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note, watched


@part
class GatedConvolution(nn.Module):
    r"""The last few inputs, weighed and let through a gate.

    y_t = (Σ_k W_k x_{t−k} + b) ⊙ σ(Σ_k V_k x_{t−k} + c)   over   0 ≤ k < kernel

    Dauphin et al. 2017, arXiv:1612.08083, eq. 1; a reader of both sides is centered. V starts as N(0, 1/(kernel · D)),
    W as N(0, 4/(kernel · D · depth)): the 4 makes up for a gate that starts half open (Gehring et al. 2017,
    arXiv:1705.03122, §3.5), the depth for what other sublayers add. Biases start at 0.
    """

    def __init__(self, place: Place, *, kernel: int = 4, bias: bool = True):
        super().__init__()
        if kernel < 1:
            raise OptionError("GatedConvolution.kernel", kernel, "at least 1", "1 looks at a single token.")
        self.kernel = kernel
        self.inward = Linear(kernel * place.width, 2 * place.width, bias=bias)
        with torch.no_grad():
            self.inward.weight[:place.width] *= 2 * place.depth**-0.5

    def start(self, batch: int, room: int, like: Tensor) -> Last:
        return Last(like.new_zeros(batch, self.kernel - 1, self.inward.out_features // 2))

    def forward(self, x: Tensor, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
        near, after = nearby(x, self.kernel, state, reading)
        both = self.inward(near)
        if watched():
            value, gate = both.chunk(2, dim=-1)
            note("value", value)
            note("gate", gate.sigmoid())
        return nn.functional.glu(both, dim=-1), after
