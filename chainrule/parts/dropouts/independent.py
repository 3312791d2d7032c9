"""Dropout as usual: every number by itself."""

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Independent(nn.Module):
    """Every number is left out by itself.

    y = x ⊙ m / (1 − rate), m ~ Bernoulli(1 − rate) for each number.

    Srivastava et al. 2014, JMLR 15. `input` is the rate of what enters the first sublayer, where it is not `rate`.
    """

    def __init__(self, place: Place, *, rate: float = 0.0, input: float | None = None):
        super().__init__()
        for option, value in (("rate", rate), ("input", input)):
            if value is not None and not 0 <= value < 1:
                raise OptionError(f"Independent.{option}", value, "at least 0 and less than 1")
        self.rate = rate if input is None or place.index >= 0 else input

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.rate, self.training) if self.rate else x
