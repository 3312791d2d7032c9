"""Relative position bias: each head learns how much it cares for a distance."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.recipe.registry import part


@part
class RelativeBias(Position):
    r"""Each head learns how much it cares for a distance.

    score_{h,i,j} + b[bucket(i − j), h]; b starts as N(0, deviation²), the same for all layers

    Raffel et al. 2020, arXiv:1910.10683, §2.1: half of the buckets are for exact distances, the others grow by the
    logarithm up to `furthest`, beyond which all share the last. A reader of both sides has a half for either.
    """

    def __init__(self, place: Place, *, buckets: int = 32, furthest: int = 128,
                 deviation: float = 0.02):
        super().__init__(place)
        if buckets < 4 or buckets % 4:
            raise OptionError("RelativeBias.buckets", buckets, "a multiple of 4")
        if furthest <= buckets // 2:
            raise OptionError("RelativeBias.furthest", furthest, f"more than {buckets // 2}, half of the buckets")
        self.buckets, self.furthest = buckets, furthest
        self.weight = nn.Parameter(torch.empty(buckets, place.heads).normal_(0.0, deviation))

    def bias(self, q_pos: Tensor, k_pos: Tensor, causal: bool) -> Tensor:
        bucket_BQK = bucket(q_pos[:, :, None] - k_pos[:, None, :], self.buckets, self.furthest, causal)
        return F.embedding(bucket_BQK, self.weight).permute(0, 3, 1, 2)


def bucket(back: Tensor, buckets: int, furthest: int, causal: bool) -> Tensor:
    """The bucket of each distance; `back` counts how far a key lies before its query."""
    first = torch.zeros_like(back)
    if not causal:
        buckets //= 2
        first = (back < 0).long() * buckets
        back = back.abs()
    back, exact = back.clamp(min=0), buckets // 2
    further = (back.float() / exact).clamp(min=1).log() / math.log(furthest / exact) * (buckets - exact)
    return first + torch.where(back < exact, back, (exact + further.long()).clamp(max=buckets - 1))
