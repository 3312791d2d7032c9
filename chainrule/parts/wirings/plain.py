"""Plain wiring: one sublayer after the other."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class Plain(nn.Module):
    """One sublayer after the other, nothing around them.

    y = dropout(f(x)): the stacked recurrent networks of Zaremba et al. 2014, arXiv:1409.2329.
    """

    def __init__(self, norm: Callable[[], nn.Module], dropout: Callable[[], nn.Module], depth: int):
        super().__init__()
        self.dropout = dropout()

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Any]]) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return self.dropout(y), state
