"""Attention with linear biases: what is further away counts less."""

import math

import torch
from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.recipe.registry import part


@part
class ALiBi(Position):
    r"""What is further away counts less, by a slope of its own for each head.

    score_{h,i,j} − m_h |i − j|,   m_h = 2^(−8h/H)  for h = 1 … H

    Press, Smith & Lewis 2022, arXiv:2108.12409, §3. Where H is no power of two, the slopes of the next lower power and
    then every other one of the next higher, as in the authors' code. Nothing is learned. A reader of both sides takes
    the distance either way.
    """

    def __init__(self, place: Place):
        super().__init__(place)
        self.heads = place.heads

    def bias(self, q_pos: Tensor, k_pos: Tensor, causal: bool) -> Tensor:
        distance_BQK = (q_pos[:, :, None] - k_pos[:, None, :]).abs()
        return -slopes(self.heads, q_pos.device)[:, None, None] * distance_BQK[:, None]


def slopes(heads: int, device: torch.device) -> Tensor:
    """(H,) in float32."""
    power = 2 ** int(math.log2(heads))
    exponents = torch.arange(1, power + 1, device=device) * (8 / power)
    others = (2 * torch.arange(heads - power, device=device) + 1) * (4 / power)
    return torch.exp2(-torch.cat([exponents, others]).float())
