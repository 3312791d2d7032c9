"""ReZero wiring: every sublayer begins switched off."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class ReZero(Wiring):
    r"""Add the sublayer's output times a learned number that starts at 0; no normalization.

    y = x + α dropout(f(x)),   α = 0 at first

    Bachlechner et al. 2020, arXiv:2003.04887, eq. 1.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(1))
        self.dropout = dropout()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return x + self.alpha * self.dropout(y), state
