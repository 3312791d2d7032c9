"""The largest value of each feature over time."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.poolings._padding import real
from chainrule.recipe.registry import part


@part
class Max(nn.Module):
    """The largest value of each feature over the vectors of a row that are not padding.

    y_d = max_t h_td. Collobert et al. 2011, arXiv:1103.0398, §3.2.2: max over time.
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        return hidden.masked_fill(~real(hidden, lengths), -float("inf")).amax(1)
