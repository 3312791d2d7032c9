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

    Gal & Ghahramani 2016, arXiv:1512.05287. `input` is the rate of what enters the first sublayer and `output` that of
    what leaves the last, where they are not `rate`, as in Merity, Keskar & Socher 2018, arXiv:1708.02182, §4.1.
    """

    def __init__(self, place: Place, *, rate: float = 0.0, input: float | None = None, output: float | None = None):
        super().__init__()
        for option, value in (("rate", rate), ("input", input), ("output", output)):
            if value is not None and not 0 <= value < 1:
                raise OptionError(f"Variational.{option}", value, "at least 0 and less than 1")
        at_end = input if place.index < 0 else output if place.index == place.depth - 1 else None
        self.rate = rate if at_end is None else at_end

    def forward(self, x: Tensor) -> Tensor:
        if not (self.rate and self.training):
            return x
        mask_BD = torch.empty(x.shape[0], 1, x.shape[2], dtype=x.dtype, device=x.device).bernoulli_(1 - self.rate)
        return x * mask_BD / (1 - self.rate)
