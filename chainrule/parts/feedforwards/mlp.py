"""The plain feedforward: two linear maps with an activation between them."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import OptionError, did_you_mean
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "tanh": lambda x: x.tanh(), "sigmoid": lambda x: x.sigmoid(), "relu_squared": lambda x: F.relu(x).square(),
    "elu": F.elu, "selu": F.selu, "softplus": F.softplus, "identity": lambda x: x,
}


@part
class MLP(Pointwise):
    """Two linear maps with an activation between them.

    y = W₂ φ(W₁ x + b₁) + b₂.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2; hidden width F = 4 D by default. W₁ starts as N(0, 1/D), W₂ as
    N(0, 1/(F · depth)), biases at 0. φ is `relu`, `gelu` (arXiv:1606.08415), `gelu_tanh` (its approximation by tanh),
    `silu` (Swish, arXiv:1710.05941), `elu` (arXiv:1511.07289), `selu` (arXiv:1706.02515), `sigmoid`, `tanh`,
    `softplus` (ln(1 + eˣ)), `relu_squared` (arXiv:2109.08668) or `identity`.
    """

    def __init__(self, place: Place, *, hidden: int | None = None, activation: str = "gelu",
                 bias: bool = True):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise OptionError("MLP.activation", activation, "an activation",
                              did_you_mean(activation, ACTIVATIONS).strip())
        hidden = 4 * place.width if hidden is None else hidden
        if hidden < 1:
            raise OptionError("MLP.hidden", hidden, "at least 1")
        self.name, self.activation = activation, ACTIVATIONS[activation]
        self.inward = Linear(place.width, hidden, bias=bias)
        self.outward = Linear(hidden, place.width, bias=bias, depth=place.depth)

    def through(self, x: Tensor) -> Tensor:
        hidden = self._activated(x) if self._fuses(x) else self.activation(self.inward(x))
        return self.outward(hidden)

    def _fuses(self, x: Tensor) -> bool:
        return (self.name == "gelu_tanh" and isinstance(self.inward, Linear) and self.inward.bias is not None
                and x.is_cuda and not torch.is_grad_enabled() and not torch.is_autocast_enabled("cuda"))

    def _activated(self, x: Tensor) -> Tensor:
        """The first map and its activation in one product of the GPU's library, before numbers are rounded."""
        y = torch._addmm_activation(self.inward.bias, x.flatten(0, -2), self.inward.weight.t(), use_gelu=True)
        return y.unflatten(0, x.shape[:-1])
