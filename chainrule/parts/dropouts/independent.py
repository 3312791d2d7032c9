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

    Srivastava et al. 2014, JMLR 15.
    """

    def __init__(self, place: Place, *, rate: float = 0.0):
        super().__init__()
        if not 0 <= rate < 1:
            raise OptionError("Independent.rate", rate, "at least 0 and less than 1")
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.rate, self.training) if self.rate else x
