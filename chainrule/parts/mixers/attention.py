"""Multi-head attention over the sequence itself, with a cache for one token at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._cache import Cache, empty, extended, rolled
from chainrule.parts.mixers._heads import check_heads, merge_heads, split_heads
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part


@part
class Attention(nn.Module):
    r"""Every token looks at itself and those before it, with several heads at once.

    y_t = W_o [head₁ … head_H],   head = attend(q_t, k, v),   q, k, v = W_q x, W_k x, W_v x

    Vaswani et al. 2017, arXiv:1706.03762, §3.2; with fewer `groups` of keys and values than heads, Ainslie et al.
    2023, arXiv:2305.13245. What `attend` does is a part of its own: full, sliding_window, … The cache belongs here;
    positions come from outside. Maps inward start as N(0, 1/D), W_o as N(0, 1/(D · depth)), biases at 0. `dropout` is
    of the weights.
    """

    asks_position = True  # the position part, which must be one for its heads

    def __init__(self, place: Place, *, heads: int = 4, groups: int | None = None, bias: bool = False,
                 dropout: float = 0.0, attend: Annotated[Choice, PartOf("parts/attention")] = "full"):
        super().__init__()
        check_heads("Attention", place.width, heads, dropout)
        groups = heads if groups is None else groups
        if groups < 1 or heads % groups:
            raise OptionError("Attention.groups", groups, f"a divisor of heads {heads}")
        self.heads, self.groups, self.head_width = heads, groups, place.width // heads
        self.inward = Linear(place.width, (heads + 2 * groups) * self.head_width, bias=bias)
        self.outward = Linear(place.width, place.width, bias=bias, depth=place.depth)
        self.attend = build("parts/attention", attend, replace(place, heads=heads, dropout=dropout))

    @property
    def bounded(self) -> bool:
        """Whether its cache grows with the text, so that texts are read in windows."""
        return self.attend.memory is None

    def start(self, batch: int, room: int, like: Tensor) -> Cache:
        """An empty cache; it grows by itself when `room` is too small."""
        return empty(batch, self.groups, self.attend.memory or room, self.head_width, like)

    def forward(self, x: Tensor, state: Cache | None, reading: Reading) -> tuple[Tensor, Cache | None]:
        assert state is None or reading.causal, "a reader of both sides needs the whole sequence at once"
        assert reading.positions is not None
        q_pos = k_pos = reading.positions
        inward = self.inward(x)
        projected = split_heads(inward, self.heads + 2 * self.groups)
        if reading.position.turns:
            turned, v = projected.split([self.heads + self.groups, self.groups], dim=1)
            q, k = reading.position.turn(turned, q_pos).split([self.heads, self.groups], dim=1)
        else:
            q, k, v = projected.split([self.heads, self.groups, self.groups], dim=1)
        if state is not None:
            new = torch.cat([k, v], dim=1).transpose(1, 2) if reading.position.turns else (
                inward.unflatten(-1, (-1, self.head_width))[:, :, self.heads:])
            entries, k_pos, state = (extended if self.bounded else rolled)(state, new, reading)
            k, v = entries.transpose(1, 2).chunk(2, dim=1)
        return self.outward(merge_heads(self.attend(q, k, v, q_pos, k_pos, reading))), state

    def stream_weights(self) -> list[Tensor]:
        """The weights between values and the residual stream: not those of queries and keys."""
        return [self.inward.weight[(self.heads + self.groups) * self.head_width:], self.outward.weight]
