"""Learned positions: a vector for each place."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.recipe.registry import part


@part
class Learned(Position):
    """A learned vector for each place, added to the embedding.

    x_t + P[t]; P starts as N(0, deviation²).

    Gehring et al. 2017, arXiv:1705.03122; Radford et al. 2018.
    """

    def __init__(self, place: Place, *, deviation: float = 0.02):
        super().__init__(place)
        self.context = place.context
        self.weight = nn.Parameter(torch.empty(place.context, place.width).normal_(0.0, deviation))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + F.embedding(positions, self.weight)
