"""The last real vector: what a recurrence remembers at the end."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.poolings._padding import last_place
from chainrule.recipe.registry import part


@part
class Last(nn.Module):
    """The last real vector of a row; where half of it was read backward, the first vector's for that half.

    y = h_T, or [→h_T; ←h_1] of a network that reads both ways (Schuster & Paliwal 1997).
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width, self.causal = place.width, place.causal

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        last = hidden[torch.arange(len(hidden), device=hidden.device), last_place(hidden, lengths)]
        if self.causal:
            return last
        half = hidden.shape[-1] // 2
        return torch.cat([last[:, :half], hidden[:, 0, half:]], dim=-1)
