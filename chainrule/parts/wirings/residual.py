"""Residual wiring without normalization."""

from typing import Any

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class Residual(Wiring):
    """Add the sublayer's output, without normalization.

    y = x + dropout(f(x)).

    He et al. 2016, arXiv:1512.03385, eq. 1; in the depth of recurrent networks, Wu et al. 2016, arXiv:1609.08144.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.dropout = dropout()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return x + self.dropout(y), state
