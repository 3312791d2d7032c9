"""Separable convolution: each number along time by itself, then all numbers of a position together."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._nearby import Last, around
from chainrule.parts.reading import Reading


class SeparableConvolution(nn.Module):
    """y_t = W Σ_k d_k ⊙ x_{t−k} + b   over   0 ≤ k < kernel, or centered for a reader of both sides.

    d starts as N(0, 1/kernel), W as N(0, 1/(inputs · depth)), b at 0.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, *, depth: int = 1):
        super().__init__()
        self.along = nn.Parameter(torch.empty(inputs, 1, kernel).normal_(0.0, kernel**-0.5))
        self.across = Linear(inputs, outputs, depth=depth)

    def start(self, batch: int, like: Tensor) -> Last:
        """Zeros, since nothing was read."""
        inputs, _, kernel = self.along.shape
        return Last(like.new_zeros(batch, kernel - 1, inputs))

    def forward(self, x: Tensor, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
        inputs, _, kernel = self.along.shape
        whole, after = around(x, kernel, state, reading)
        along = F.conv1d(whole.transpose(1, 2), self.along.to(whole.dtype), groups=inputs).transpose(1, 2)
        return self.across(along), after
