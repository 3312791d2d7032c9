"""The mean of all real vectors."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.poolings._padding import real
from chainrule.recipe.registry import part


@part
class Mean(nn.Module):
    """The mean of all vectors of a row that are not padding.

    y = 1/T Σ_t h_t.
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        there = real(hidden, lengths)
        return hidden.masked_fill(~there, 0.0).sum(1) / there.sum(1).clamp(min=1)
