"""The plain feedforward: two linear maps with an activation between them."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Composite
from chainrule.engine.modules.linear import Linear
from chainrule.engine.tensor import Array, Tensor
from chainrule.errors import OptionError, did_you_mean
from chainrule.recipe.registry import find, part

ACTIVATIONS = ("gelu", "gelu_tanh", "relu", "sigmoid", "silu", "tanh")


@part
class MLP(Composite):
    r"""Two linear maps with an activation between them.

    y = W₂ φ(W₁ x + b₁) + b₂; the backward pass is that of its three modules, in the opposite order.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2; hidden width 4 D.
    """

    def __init__(self, width: int, depth: int = 1, *, hidden: int | None = None, activation: str = "gelu",
                 bias: bool = True, random: np.random.Generator | None = None):
        if activation not in ACTIVATIONS:
            raise OptionError("MLP.activation", activation, "an activation",
                              did_you_mean(activation, ACTIVATIONS).strip())
        hidden = 4 * width if hidden is None else hidden
        self.inward = Linear(width, hidden, bias=bias, random=random)
        self.activation = find("engine/modules", activation)()
        self.outward = Linear(hidden, width, bias=bias, deviation=(hidden * depth) ** -0.5, random=random)

    def forward(self, x: Tensor) -> Tensor:
        return self.outward(self.activation(self.inward(x)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[MLP, list[Array]]:
        return MLP(3, hidden=5, random=random), [random.normal(size=(2, 3))]
