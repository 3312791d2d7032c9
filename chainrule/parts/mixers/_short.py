"""A short convolution of each number of the vectors by itself: what stands before the newer recurrences."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError


class ShortConvolution(nn.Module):
    """y_t = b + Σ_k w_k ⊙ x_{t−k}   over   0 ≤ k < kernel;   w starts as N(0, 1/kernel), b at 0.

    Its kernels are no matrix, which an optimizer of matrices would make orthogonal: so they have three axes.
    """

    def __init__(self, owner: str, width: int, kernel: int):
        super().__init__()
        if kernel < 1:
            raise OptionError(f"{owner}.kernel", kernel, "at least 1", "1 looks at a single token.")
        self.weight = nn.Parameter(torch.empty(kernel, 1, width).normal_(0.0, kernel**-0.5))
        self.bias = nn.Parameter(torch.zeros(width))

    def start(self, batch: int, like: Tensor) -> Tensor:
        """(B, kernel − 1, D): zeros, since nothing was read."""
        kernel, _, width = self.weight.shape
        return like.new_zeros(batch, kernel - 1, width)

    def forward(self, x: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, D) inputs after those before them; and what the next ones will need."""
        whole, kernel = torch.cat([before.to(x.dtype), x], dim=1), len(self.weight)
        y = self.bias.to(x.dtype)
        for ago, weight in enumerate(self.weight.to(x.dtype)):
            y = torch.addcmul(y, whole[:, kernel - 1 - ago:whole.shape[1] - ago], weight)
        return y, whole[:, x.shape[1]:]
