"""Variational dropout: the same mask at every time step."""

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Variational(nn.Module):
    """The same numbers are left out at every time step.

    y_t = x_t ⊙ m / (1 − rate), one mask m for all t of a sequence.

    Gal & Ghahramani 2016, arXiv:1512.05287.
    """

    def __init__(self, place: Place, *, rate: float = 0.0):
        super().__init__()
        if not 0 <= rate < 1:
            raise OptionError("Variational.rate", rate, "at least 0 and less than 1")
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        if not (self.rate and self.training):
            return x
        mask_BD = torch.empty(x.shape[0], 1, x.shape[2], dtype=x.dtype, device=x.device).bernoulli_(1 - self.rate)
        return x * mask_BD / (1 - self.rate)
