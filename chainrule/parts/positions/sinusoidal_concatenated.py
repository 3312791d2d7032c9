"""Sinusoidal positions beside the embeddings, and a map back to the width."""

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.parts.positions._waves import waves
from chainrule.recipe.registry import part


@part
class SinusoidalConcatenated(Position):
    r"""Waves of growing length beside the embeddings, and a map back to the width.

    W [x_t; p_t]   with the waves p_t of Vaswani et al. 2017, arXiv:1706.03762, §3.5

    There they are added; beside each other, words and places do not share numbers until W mixes them. W starts as
    [1, N(0, 2 deviation²/D)]: the words pass, the places come in as small as freshly made embeddings.
    """

    def __init__(self, place: Place, *, base: float = 10_000.0, deviation: float = 0.02):
        super().__init__(place)
        self.base = base
        places = torch.empty(place.width, place.width).normal_(0.0, deviation * (2 / place.width) ** 0.5)
        self.weight = nn.Parameter(torch.cat([torch.eye(place.width), places], dim=1))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        places = waves(positions, x.shape[-1], self.base).to(x.dtype).expand_as(x)
        return nn.functional.linear(torch.cat([x, places], dim=-1), self.weight)
