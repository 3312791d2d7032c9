"""Post-norm wiring: the Transformer as it was published."""

from typing import Any

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class PostNorm(Wiring):
    """Add, then normalize: the Transformer as it was published.

    y = norm(x + dropout(f(x))).

    Vaswani et al. 2017, arXiv:1706.03762, §3.1.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return self.norm(x + self.dropout(y)), state
