"""Residual wiring without normalization."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class Residual(nn.Module):
    """Add what the sublayer says, without normalization.

    y = x + dropout(f(x)).

    He et al. 2016, arXiv:1512.03385, eq. 1; in the depth of recurrent networks, Wu et al. 2016, arXiv:1609.08144.
    """

    def __init__(self, norm: Callable[[], nn.Module], dropout: Callable[[], nn.Module], depth: int):
        super().__init__()
        self.dropout = dropout()

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Any]]) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return x + self.dropout(y), state
