"""Dynamic tanh: a squashing in the place of a norm."""

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class DynamicTanh(nn.Module):
    """A tanh with a learned slope in the place of a norm: no mean and no variance is computed.

    y = g ⊙ tanh(α x) + b; α is one number, which starts at `slope`, g starts at 1, b at 0.

    Zhu et al. 2025, arXiv:2503.10622, §4. It does not make small vectors larger, as a norm does: choose
    `model.embedding.scale=root`; the paper's language models learn a number for that, which starts there.
    """

    def __init__(self, place: Place, *, slope: float = 0.5):
        super().__init__()
        self.slope = nn.Parameter(torch.full((1,), slope))
        self.gain, self.bias = nn.Parameter(torch.ones(place.width)), nn.Parameter(torch.zeros(place.width))

    def forward(self, x: Tensor) -> Tensor:
        return (self.gain * (self.slope * x).tanh() + self.bias).to(x.dtype)
