"""ReZero with a norm before each sublayer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.parts.wirings._wiring import Make
from chainrule.recipe.registry import part


@part
class ReZeroNorm(PreNormed):
    r"""Pre-norm in which every sublayer begins switched off: its output counts by a learned number that starts at 0.

    y = x + α dropout(f(norm(x))),   α = 0 at first; the stack ends with one more norm

    Bachlechner et al. 2020, arXiv:2003.04887; with `model.norm` layer or rms the rows "ReZero + LayerNorm" and
    "ReZero + RMS Norm" of Narang et al. 2021, arXiv:2102.11972, Table 1.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__(place, norm, dropout)
        self.alpha = nn.Parameter(torch.zeros(1))

    def written(self, y: Tensor) -> Tensor:
        return self.alpha.to(y.dtype) * y
