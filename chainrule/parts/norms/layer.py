"""Layer normalization."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.norms._summed import Terms
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class LayerNorm(nn.Module):
    """Mean 0 and variance 1 over the width, then a learned gain and bias.

    y = g ⊙ (x − μ) / √(σ² + ε) + b, with mean and variance over the width; g starts at 1, b at 0.

    Ba, Kiros & Hinton 2016, arXiv:1607.06450, eq. 4; ε inside the root.
    """

    def __init__(self, place: Place, *, epsilon: float = 1e-5, bias: bool = True):
        super().__init__()
        self.gain, self.epsilon = nn.Parameter(torch.ones(place.width)), epsilon
        self.bias = nn.Parameter(torch.zeros(place.width)) if bias else None

    def terms(self) -> Terms:
        return Terms(self.gain, self.bias, self.epsilon, centered=True)

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], self.gain, self.bias, self.epsilon)
