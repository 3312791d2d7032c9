"""Root-mean-square normalization."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.registry import part


@part
class RMSNorm(nn.Module):
    """Mean square 1 over the width, then a learned gain.

    y = g ⊙ x / √(mean(x²) + ε); g starts at 1.

    Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4.
    """

    def __init__(self, width: int, *, epsilon: float = 1e-6):
        super().__init__()
        self.gain, self.epsilon = nn.Parameter(torch.ones(width)), epsilon

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], self.gain, self.epsilon)
