"""Full attention: every key that may be seen is weighed."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class Full(nn.Module):
    r"""Every key that may be seen is weighed by its likeness to the query.

    y_i = Σ_j softmax_j(q_i·k_j / √E) v_j

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1.
    """

    memory: int | None = None  # the last keys that can still be seen; None: all

    def __init__(self, place: Place):
        super().__init__()
        self.dropout = place.dropout

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        mask, causal = mask_of(q, q_pos, k_pos, reading)
        return attend(q, k, v, mask, causal=causal, dropout=self.dropout if self.training else 0.0)
