"""What the gated feedforwards have in common: two projections in, one of them through a gate."""

from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place


class Gated(Pointwise):
    """y = W₂ (gate(W₁ x) ⊙ V x); W₁ and V are one matrix product.

    W₁ and V start as N(0, 1/D), W₂ as N(0, 1/(F · depth)), biases at 0. F is 8/3 D in whole eights by default: as many
    weights as a plain feedforward of 4 D.
    """

    def __init__(self, place: Place, *, hidden: int | None = None, bias: bool = False):
        super().__init__()
        self.hidden = max(8, round(place.width / 3) * 8) if hidden is None else hidden
        if self.hidden < 1:
            raise OptionError(f"{type(self).__name__}.hidden", hidden, "at least 1")
        self.inward = Linear(place.width, 2 * self.hidden, bias=bias)
        self.outward = Linear(self.hidden, place.width, bias=bias, depth=place.depth)

    def gate(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def through(self, x: Tensor) -> Tensor:
        through, value = self.inward(x).chunk(2, dim=-1)
        return self.outward(self.gate(through) * value)
