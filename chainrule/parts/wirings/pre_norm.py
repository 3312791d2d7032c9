"""Pre-norm wiring: normalize what goes into a sublayer, leave the stream alone."""

from typing import Any

from torch import Tensor

from chainrule.parts.norms._summed import summed
from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class PreNorm(Wiring):
    """Normalize what goes into a sublayer, and leave the stream alone.

    y = x + dropout(f(norm(x))); the stack ends with one more norm.

    Baevski & Auli 2019, arXiv:1809.10853; Xiong et al. 2020, arXiv:2002.04745.
    """

    ends_with_norm = True

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(self.norm(x))
        return x + self.dropout(y), state

    def flow(self, x: Tensor, added: Tensor | None, sublayer: Sublayer) -> tuple[Tensor, Tensor | None, Any]:
        x, inward = summed(self.norm, x, added)
        y, state = sublayer(inward)
        return x, self.dropout(y), state
