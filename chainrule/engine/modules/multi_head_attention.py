"""Multi-head attention over a sequence itself."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Composite
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.self_attention import SelfAttention
from chainrule.engine.tensor import Array, Tensor
from chainrule.errors import OptionError
from chainrule.recipe.registry import part


@part
class MultiHeadAttention(Composite):
    r"""Every place looks at itself and those before it, with several heads at once.

    y = W_o [head₁ … head_H],   head = softmax(Q Kᵀ / √E) V,   [Q K V] = x W_iᵀ
    The backward pass is that of its three modules, in the opposite order.

    Vaswani et al. 2017, arXiv:1706.03762, §3.2.2. W_i starts as N(0, 1/D), W_o as N(0, 1/(D · depth)).
    """

    def __init__(self, width: int, depth: int = 1, *, heads: int = 4, bias: bool = False, causal: bool = True,
                 rotary: float | None = None, random: np.random.Generator | None = None):
        if heads < 1 or width % heads:
            raise OptionError("MultiHeadAttention.heads", heads, f"a divisor of width {width}")
        self.inward = Linear(width, 3 * width, bias=bias, random=random)
        self.attend = SelfAttention(heads=heads, causal=causal, rotary=rotary)
        self.outward = Linear(width, width, bias=bias, deviation=(width * depth) ** -0.5, random=random)

    def forward(self, x: Tensor) -> Tensor:
        return self.outward(self.attend(self.inward(x)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[MultiHeadAttention, list[Array]]:
        return MultiHeadAttention(6, heads=2, bias=True, random=random), [random.normal(size=(2, 5, 6))]
