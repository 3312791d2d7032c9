"""Sandwich norm: a norm before each sublayer and another behind it."""

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.parts.wirings._wiring import Make
from chainrule.recipe.registry import part


@part
class SandwichNorm(PreNormed):
    """Normalize what goes into a sublayer and what comes out of it, before it is added.

    y = x + dropout(norm₂(f(norm₁(x)))); the stack ends with one more norm.

    Ding et al. 2021 (CogView), arXiv:2105.13290, §2.4 ("Sandwich-LN"). It keeps the terms of the stream at one size, so
    that half precision does not overflow.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__(place, norm, dropout)
        self.behind = norm()

    def written(self, y: Tensor) -> Tensor:
        return self.behind(y)
