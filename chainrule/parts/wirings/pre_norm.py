"""Pre-norm wiring: normalize what goes into a sublayer, leave the stream alone."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class PreNorm(nn.Module):
    """Normalize what goes into a sublayer, and leave the stream alone.

    y = x + dropout(f(norm(x))); the stack ends with one more norm.

    Baevski & Auli 2019, arXiv:1809.10853; Xiong et al. 2020, arXiv:2002.04745.
    """

    ends_with_norm = True

    def __init__(self, norm: Callable[[], nn.Module], dropout: Callable[[], nn.Module], depth: int):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Any]]) -> tuple[Tensor, Any]:
        y, state = sublayer(self.norm(x))
        return x + self.dropout(y), state
