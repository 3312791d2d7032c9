"""A Transformer block: attention and a feedforward, each behind a norm, each added to the stream."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.engine.module import Composite
from chainrule.engine.modules.dropout import Dropout
from chainrule.engine.modules.layer_norm import LayerNorm
from chainrule.engine.modules.mlp import MLP
from chainrule.engine.modules.multi_head_attention import MultiHeadAttention
from chainrule.engine.modules.rms_norm import RMSNorm
from chainrule.engine.modules.swiglu import SwiGLU
from chainrule.engine.tensor import Array, Tensor
from chainrule.recipe.registry import part


@part
class TransformerBlock(Composite):
    r"""Attention, then a feedforward, each behind a norm and added to the stream.

    u = x + attention(norm₁ x),   y = u + feedforward(norm₂ u)
    The stream's gradient is added to that of each branch: dx = du + (∂ attention(norm₁ x)/∂x)ᵀ du.

    Vaswani et al. 2017, arXiv:1706.03762; pre-norm, Xiong et al. 2020, arXiv:2002.04745. `norm` "rms" goes with rotary
    positions and SwiGLU, as models are built today; "layer" with GELU and biases, as in GPT-2.
    """

    def __init__(self, width: int, depth: int = 2, *, heads: int = 4, norm: Literal["rms", "layer"] = "rms",
                 rotary: float | None = 10_000.0, dropout: float = 0.0, random: np.random.Generator | None = None):
        modern = norm == "rms"
        make = RMSNorm if modern else LayerNorm
        self.attention_norm, self.feedforward_norm = make(width), make(width)
        self.attention = MultiHeadAttention(width, depth, heads=heads, bias=not modern, rotary=rotary, random=random)
        self.feedforward = SwiGLU(width, depth, random=random) if modern else MLP(
            width, depth, activation="gelu_tanh", random=random)
        self.dropouts = [Dropout(rate=dropout, seed=seed) for seed in (1, 2)] if dropout else []

    def forward(self, x: Tensor) -> Tensor:
        y = self.attention(self.attention_norm(x))
        x = x + (self.dropouts[0](y) if self.dropouts else y)
        y = self.feedforward(self.feedforward_norm(x))
        return x + (self.dropouts[1](y) if self.dropouts else y)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[TransformerBlock, list[Array]]:
        return TransformerBlock(6, heads=2, random=random), [random.normal(size=(2, 3, 6))]
