"""The SwiGLU feedforward."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Composite
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.silu_gate import SiLUGate
from chainrule.engine.tensor import Array, Tensor
from chainrule.recipe.registry import part


@part
class SwiGLU(Composite):
    r"""A feedforward whose hidden numbers pass a SiLU gate.

    y = W₂ (SiLU(W₁ x) ⊙ V x); the backward pass is that of its three modules, in the opposite order.

    Shazeer 2020, arXiv:2002.05202, eq. 6. Hidden width 8/3 D in whole eights; W₁ and V are one product.
    """

    def __init__(self, width: int, depth: int = 1, *, hidden: int | None = None, bias: bool = False,
                 random: np.random.Generator | None = None):
        hidden = max(8, round(width / 3) * 8) if hidden is None else hidden
        self.inward = Linear(width, 2 * hidden, bias=bias, random=random)
        self.gate = SiLUGate()
        self.outward = Linear(hidden, width, bias=bias, deviation=(hidden * depth) ** -0.5, random=random)

    def forward(self, x: Tensor) -> Tensor:
        return self.outward(self.gate(self.inward(x)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SwiGLU, list[Array]]:
        return SwiGLU(3, hidden=5, bias=True, random=random), [random.normal(size=(2, 3))]
