"""What the gated feedforwards have in common: two projections in, one of them through a gate."""

from torch import Tensor, nn

from chainrule.parts.linear import Linear


class Gated(nn.Module):
    """y = W₂ (gate(W₁ x) ⊙ V x); W₁ and V are one matrix product."""

    def __init__(self, width: int, depth: int, *, hidden: int | None = None, bias: bool = False):
        super().__init__()
        self.hidden = hidden or round(8 * width / 3 / 8) * 8
        self.inward = Linear(width, 2 * self.hidden, bias=bias)
        self.outward = Linear(self.hidden, width, bias=bias, depth=depth)

    def gate(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        through, value = self.inward(x).chunk(2, dim=-1)
        return self.outward(self.gate(through) * value)
