"""Fixup wiring: no norm, but first weights that are small enough to train without one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring, stream_weights
from chainrule.recipe.registry import part


@part
class Fixup(Wiring):
    r"""Add the sublayer's output without normalization; sublayers start at 0 and small inside.

    y = x + m dropout(f(x + b)) + c,   numbers m = 1 and b = c = 0 at first

    The last map of f starts at 0, the maps before it on the way into the stream depth^(−1/2) as large as usual. Zhang,
    Dauphin & Ma 2019, arXiv:1901.09321, §3: L^(−1/(2n − 2)) for L = depth branches of n = 2 maps each, such as values
    and outputs. Departures: queries and keys start as usual; biases inside a sublayer are its own; the head does not
    start at 0, since it may be tied to the embedding. Where a sublayer has no last map (its `outward`), as in a
    recurrence, m starts at 0. Nothing makes the embedding larger on its way: choose `model.embedding.scale=root`.
    """

    scales_with_depth = False

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.before, self.behind = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
        self.multiplier = nn.Parameter(torch.ones(1))
        self.dropout = dropout()

    @torch.no_grad()
    def initialize(self, body: nn.Module, place: Place) -> None:
        last = [each for name, each in body.named_parameters() if "outward" in name.split(".")]
        for weight in stream_weights(body):
            weight.mul_(0.0 if any(weight is each for each in last) else place.depth**-0.5)
        if not last:
            self.multiplier.zero_()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x + self.before.to(x.dtype))
        return x + self.multiplier.to(x.dtype) * self.dropout(y) + self.behind.to(x.dtype), state
