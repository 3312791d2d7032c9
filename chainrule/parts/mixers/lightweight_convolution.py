"""Lightweight convolution: a weighted mean of a few neighbors, with one kernel for all numbers of a head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.mixers._normalized import NormalizedConvolution
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class LightweightConvolution(NormalizedConvolution):
    r"""A weighted mean of the last few inputs, with the same weights at all tokens and for all numbers of a head.

    y = W_o s + c,   s_{t,d} = Σ_k softmax(K_h)_k u_{t−k,d}   over   0 ≤ k < kernel,   u = GLU(W_i x + b)

    Wu et al. 2019, arXiv:1901.10430, §3; d is a number of head h. A reader of both sides is centered. `dropout` is of
    the weights (DropConnect, §3). K starts as N(0, 1/kernel), W_i as N(0, 1/D), W_o as N(0, 1/(D · depth)),
    biases at 0.
    """

    def __init__(self, place: Place, *, kernel: int = 7, heads: int = 4, dropout: float = 0.0):
        super().__init__(place, kernel, heads, dropout)
        self.weight = nn.Parameter(torch.empty(heads, 1, kernel).normal_(0.0, kernel**-0.5))  # the oldest first

    def convolved(self, u: Tensor, whole: Tensor) -> Tensor:
        weight_HK = self.weight[:, 0].softmax(-1).to(u.dtype)
        note("kernel", weight_HK.expand(len(u), -1, -1))
        each_D1K = self.dropped(weight_HK).repeat_interleave(self.width // self.heads, dim=0)[:, None]
        return F.conv1d(whole.transpose(1, 2), each_D1K, groups=self.width).transpose(1, 2)
