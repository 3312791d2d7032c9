"""The random Synthesizer: a learned matrix of places says who looks where, whatever the text."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.attention._synthesized import Synthesized
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class SynthesizerRandom(Synthesized):
    r"""A learned matrix says how much each place wants from every other, whatever the text.

    y_i = Σ_j softmax_j(R_ij) v_j,   one R (context × context) for each head

    Tay et al. 2020, arXiv:2005.00743, §3, "random". There are no queries and keys unless `dot` adds dot products
    (plus) or mixes them in by a learned share (plus_alpha). R starts as N(0, 1).
    """

    def __init__(self, place: Place, *, dot: Literal["none", "plus", "plus_alpha"] = "none"):
        super().__init__(place, dot)
        self.weight = nn.Parameter(torch.randn(place.heads, place.context, place.context))

    def synthetic(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return self.weight[:, q_pos[:, :, None], k_pos[:, None, :]].transpose(0, 1)
