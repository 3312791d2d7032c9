"""Dropout as usual: every number by itself."""

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.registry import part


@part
class Independent(nn.Module):
    """y = x ⊙ m / (1 − rate), m ~ Bernoulli(1 − rate) for each number.

    Srivastava et al. 2014, JMLR 15.
    """

    def __init__(self, *, rate: float = 0.0):
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.rate, self.training) if self.rate else x
