"""DeepNorm wiring: post-norm that stays trainable at a thousand layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring, stream_weights
from chainrule.recipe.registry import part


@part
class DeepNorm(Wiring):
    r"""Add to a stream that counts more, then normalize; sublayers start small.

    y = norm(α x + dropout(f(x))),   α = depth^(1/4),   weights of f start β = (4 depth)^(−1/4) as large

    Wang et al. 2022, arXiv:2203.00555, §3.1. One stack with M layers of two sublayers has the depth 2 M, so
    α = (2M)^(1/4) and β = (8M)^(−1/4); a decoder with cross-attention has 3 M: α = (3M)^(1/4), β = (12M)^(−1/4). An
    encoder with N layers, which a decoder with M layers looks at: α = 0.81 (N⁴M)^(1/16), β = 0.87 (N⁴M)^(−1/16). β is
    of what values pass on their way into the stream, not of queries and keys; it takes the place of 1/√depth.
    """

    scales_with_depth = False

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.alpha, _ = coefficients(place)
        self.norm, self.dropout = norm(), dropout()

    def initialize(self, body: nn.Module, place: Place) -> None:
        _, beta = coefficients(place)
        with torch.no_grad():
            for weight in stream_weights(body):
                weight.mul_(beta)

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return self.norm(self.alpha * x + self.dropout(y)), state


def coefficients(place: Place) -> tuple[float, float]:
    """α and β of a sublayer's stack."""
    if not place.reader_depth:
        return place.depth**0.25, (4 * place.depth) ** -0.25
    encoder, decoder = place.depth / 2, place.reader_depth / 3  # layers
    return 0.81 * (encoder**4 * decoder) ** (1 / 16), 0.87 * (encoder**4 * decoder) ** (-1 / 16)
