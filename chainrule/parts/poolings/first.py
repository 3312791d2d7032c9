"""The first vector: a class token's, or what has read everything backward."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class First(nn.Module):
    """The first vector of a row, which a network that reads both ways can fill with all of it.

    y = h_1. Devlin et al. 2019, arXiv:1810.04805, §3: the token [CLS].
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        return hidden[:, 0]
