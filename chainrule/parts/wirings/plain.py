"""Plain wiring: one sublayer after the other."""

from typing import Any

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class Plain(Wiring):
    """One sublayer after the other, nothing around them.

    y = dropout(f(x)): the stacked recurrent networks of Zaremba et al. 2014, arXiv:1409.2329.
    """

    changes_width = True

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.dropout = dropout()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return self.dropout(y), state
