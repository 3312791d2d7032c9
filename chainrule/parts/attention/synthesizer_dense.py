"""The dense Synthesizer: each token says by itself how much it wants from every place."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.attention._synthesized import Synthesized, at_keys
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class SynthesizerDense(Synthesized):
    r"""Each token says by itself how much it wants from every place, without looking at what stands there.

    y_i = Σ_j softmax_j(s_ij) v_j,   s_ij = w_j·relu(q_i) + b_j,   a w and b for each head and place

    Tay et al. 2020, arXiv:2005.00743, §3, "dense": two layers over x, of which the map to queries is the first. `dot`
    adds scaled dot products (plus) or mixes them in by a learned share (plus_alpha), from the same queries. It knows
    `model.context` places. w starts as N(0, 1/E), b at 0.
    """

    makes_from_queries = True

    def __init__(self, place: Place, *, dot: Literal["none", "plus", "plus_alpha"] = "none"):
        super().__init__(place, dot)
        width = place.head_width
        self.weight = nn.Parameter(torch.randn(place.heads, width, place.context) * width**-0.5)
        self.bias = nn.Parameter(torch.zeros(place.heads, place.context))

    def synthetic(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        if len(k_pos) == 1:  # only the places that are needed
            weight, bias = self.weight[..., k_pos[0]], self.bias[:, k_pos[0]]
            return torch.einsum("bhqe,het->bhqt", q.relu(), weight) + bias[:, None]
        return at_keys(torch.einsum("bhqe,het->bhqt", q.relu(), self.weight) + self.bias[:, None], k_pos)
