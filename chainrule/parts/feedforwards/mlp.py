"""The plain feedforward: two linear maps with an activation between them."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError, did_you_mean
from chainrule.parts.linear import Linear
from chainrule.recipe.registry import part

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "tanh": lambda x: x.tanh(), "sigmoid": lambda x: x.sigmoid(), "relu_squared": lambda x: F.relu(x).square(),
    "identity": lambda x: x,
}


@part
class MLP(nn.Module):
    """Two linear maps with an activation between them.

    y = W₂ φ(W₁ x + b₁) + b₂.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2; hidden width F = 4 D by default. W₁ starts as N(0, 1/D), W₂ as
    N(0, 1/(F · depth)), biases at 0.
    """

    def __init__(self, width: int, depth: int, *, hidden: int | None = None, activation: str = "gelu",
                 bias: bool = True):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise OptionError("MLP.activation", activation, "an activation",
                              did_you_mean(activation, ACTIVATIONS).strip())
        hidden = 4 * width if hidden is None else hidden
        if hidden < 1:
            raise OptionError("MLP.hidden", hidden, "at least 1")
        self.activation = ACTIVATIONS[activation]
        self.inward = Linear(width, hidden, bias=bias)
        self.outward = Linear(hidden, width, bias=bias, depth=depth)

    def forward(self, x: Tensor) -> Tensor:
        return self.outward(self.activation(self.inward(x)))
