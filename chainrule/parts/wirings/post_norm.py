"""Post-norm wiring: the Transformer as it was published."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.recipe.registry import part


@part
class PostNorm(nn.Module):
    """Add, then normalize: the Transformer as it was published.

    y = norm(x + dropout(f(x))).

    Vaswani et al. 2017, arXiv:1706.03762, §3.1.
    """

    def __init__(self, norm: Callable[[], nn.Module], dropout: Callable[[], nn.Module], depth: int):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Any]]) -> tuple[Tensor, Any]:
        y, state = sublayer(x)
        return self.norm(x + self.dropout(y)), state
