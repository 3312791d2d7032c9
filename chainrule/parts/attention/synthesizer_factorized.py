"""The factorized dense Synthesizer: what a token wants from a place is a product of two smaller wishes."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.attention._synthesized import Synthesized, at_keys
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class SynthesizerFactorized(Synthesized):
    r"""Each token says how much it wants from every place by a product: of the place in its row and the row.

    s_ij = (A q_i)_{j mod a} · (B q_i)_{⌊j / a⌋},   A with a rows, B with ⌈context / a⌉, for each head

    Tay et al. 2020, arXiv:2005.00743, §3, "factorized dense": a + context/a numbers for each token in the place of
    context; the two functions are linear here. `dot` is as in `synthesizer_dense`. `rows` is a; the
    default is near √context. A and B start as N(0, 1/E).
    """

    makes_from_queries = True

    def __init__(self, place: Place, *, rows: int | None = None, dot: Literal["none", "plus", "plus_alpha"] = "none"):
        super().__init__(place, dot)
        rows = max(1, round(place.context**0.5)) if rows is None else rows
        if not 1 <= rows <= place.context:
            raise OptionError("SynthesizerFactorized.rows", rows, f"1 to {place.context}, the context")
        self.rows, width = rows, place.head_width
        self.within, self.of_row = (nn.Parameter(torch.randn(place.heads, width, count) * width**-0.5)
                                    for count in (rows, -(-place.context // rows)))

    def synthetic(self, q: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        within, of_row = (torch.einsum("bhqe,her->bhqr", q, weight) for weight in (self.within, self.of_row))
        return at_keys(within, k_pos % self.rows) * at_keys(of_row, k_pos // self.rows)
