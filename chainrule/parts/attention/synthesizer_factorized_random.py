"""The factorized random Synthesizer: the matrix of places is a product of two narrow ones."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.attention._synthesized import Synthesized
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class SynthesizerFactorizedRandom(Synthesized):
    r"""A product of two narrow learned matrices says how much each place wants from every other.

    y_i = Σ_j softmax_j(r_i·r′_j) v_j,   r and r′ of `rank` numbers for each head and place

    Tay et al. 2020, arXiv:2005.00743, §3, "factorized random"; their rank is 8. `dot` is as in
    `synthesizer_random`. r and r′ start as N(0, 1/√rank): the products have variance 1.
    """

    def __init__(self, place: Place, *, rank: int = 8, dot: Literal["none", "plus", "plus_alpha"] = "none"):
        super().__init__(place, dot)
        if rank < 1:
            raise OptionError("SynthesizerFactorizedRandom.rank", rank, "at least 1")
        self.of_query, self.of_key = (
            nn.Parameter(torch.randn(place.heads, place.context, rank) * rank**-0.25) for _ in range(2))

    def synthetic(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return torch.einsum("hbqr,hbkr->bhqk", *(
            each.expand(-1, max(len(q_pos), len(k_pos)), -1, -1)
            for each in (self.of_query[:, q_pos], self.of_key[:, k_pos])))
