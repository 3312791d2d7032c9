"""What lightweight and dynamic convolutions have in common: a gate, kernels that sum to one, and a map outward."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._heads import check_heads
from chainrule.parts.mixers._nearby import Last, around
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading


class NormalizedConvolution(nn.Module):
    """u = GLU(W_i x), then a convolution of each number by itself, then a linear map.

    The numbers of a head share a kernel, whose weights are a softmax; a part says where the kernels come from.
    """

    def __init__(self, place: Place, kernel: int, heads: int, dropout: float):
        super().__init__()
        name = type(self).__name__
        check_heads(name, place.width, heads, dropout)
        if kernel < 1:
            raise OptionError(f"{name}.kernel", kernel, "at least 1", "1 looks at a single token.")
        self.kernel, self.heads, self.width, self.dropout = kernel, heads, place.width, dropout
        self.inward = Linear(place.width, 2 * place.width)
        self.outward = Linear(place.width, place.width, depth=place.depth)

    def convolved(self, u: Tensor, whole: Tensor) -> Tensor:
        """(B, T, D) of (B, T, D) inputs, which have the others around them in `whole` (B, T + kernel − 1, D)."""
        raise NotImplementedError

    def dropped(self, weight: Tensor) -> Tensor:
        """DropConnect: single weights of the kernels are left out in training."""
        return F.dropout(weight, self.dropout, self.training)

    def start(self, batch: int, room: int, like: Tensor) -> Last:
        return Last(like.new_zeros(batch, self.kernel - 1, self.width))

    def forward(self, x: Tensor, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
        u = F.glu(self.inward(x), dim=-1)
        whole, after = around(u, self.kernel, state, reading)
        return self.outward(self.convolved(u, whole.to(u.dtype))), after
