"""Multi-head attention over the sequence itself, with a cache for one token at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._cache import Cache, empty, extended, rolled
from chainrule.parts.mixers._heads import attention_part, check_heads, merge_heads, norms_of_heads, split_heads
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import part


@part
class Attention(nn.Module):
    r"""Every token looks at itself and those before it, with several heads at once.

    y_t = W_o [head₁ … head_H],   head = attend(q_t, k, v),   q, k, v = W_q x, W_k x, W_v x

    Vaswani et al. 2017, arXiv:1706.03762, §3.2; with fewer `groups` of keys and values than heads, Ainslie et al.
    2023, arXiv:2305.13245. What `attend` does is a part of its own: full, sliding_window, …; one that does without
    queries or keys has no map for them. `qk_norm` is a norm of each head's queries and keys before positions turn them:
    `layer` as in Dehghani et al. 2023, arXiv:2302.05442, §2.1, `rms` for the idea of Henry et al. 2020,
    arXiv:2010.04245, with a learned scale for each number of a head in the place of one for all. The cache belongs
    here; positions come from outside. Maps inward start as N(0, 1/D), W_o as N(0, 1/(D · depth)), biases at 0.
    `dropout` is of the weights.
    """

    asks_position = True  # the position part, which must be one for its heads

    def __init__(self, place: Place, *, heads: int = 4, groups: int | None = None, bias: bool = False,
                 dropout: float = 0.0, attend: Annotated[Choice, PartOf("parts/attention")] = "full",
                 qk_norm: Annotated[Choice, PartOf("parts/norms")] = "none"):
        super().__init__()
        check_heads("Attention", place.width, heads, dropout)
        groups = heads if groups is None else groups
        if groups < 1 or heads % groups:
            raise OptionError("Attention.groups", groups, f"a divisor of heads {heads}")
        self.heads, self.groups, self.head_width = heads, groups, place.width // heads
        self.attend = attention_part("Attention", attend, replace(place, heads=heads, dropout=dropout))
        self.queries = heads if getattr(self.attend, "uses_queries", True) else 0
        self.keys = groups if getattr(self.attend, "uses_keys", True) else 0
        self.inward = Linear(place.width, (self.queries + self.keys + groups) * self.head_width, bias=bias)
        self.outward = Linear(place.width, place.width, bias=bias, depth=place.depth)
        self.norms = norms_of_heads(qk_norm, self.head_width, self.queries and self.keys)

    @property
    def bounded(self) -> bool:
        """Whether its cache grows with the text, so that texts are read in windows."""
        return self.attend.memory is None

    def start(self, batch: int, room: int, like: Tensor) -> Cache:
        """An empty cache; it grows by itself when `room` is too small."""
        if not self.bounded:
            room = self.attend.memory + getattr(self.attend, "first", 0)
        return empty(batch, room, self.keys + self.groups, self.head_width, like)

    def forward(self, x: Tensor, state: Cache | None, reading: Reading) -> tuple[Tensor, Cache | None]:
        assert state is None or reading.causal, "a reader of both sides needs the whole sequence at once"
        assert reading.positions is not None
        q_pos = k_pos = reading.positions
        inward = self.inward(x)
        projected, changed = split_heads(inward, self.queries + self.keys + self.groups), reading.position.turns
        if self.norms is not None:
            q, k, v = projected.split([self.queries, self.keys, self.groups], dim=1)
            projected, changed = torch.cat([self.norms[0](q), self.norms[1](k), v], dim=1), True
        if reading.position.turns:
            turned, v = projected.split([self.queries + self.keys, self.groups], dim=1)
            q, k = reading.position.turn(turned, q_pos).split([self.queries, self.keys], dim=1)
        else:
            q, k, v = projected.split([self.queries, self.keys, self.groups], dim=1)
        if state is not None:
            new = torch.cat([k, v], dim=1).transpose(1, 2) if changed else (
                inward.unflatten(-1, (-1, self.head_width))[:, :, self.queries:])
            entries, k_pos, state = (extended(state, new, reading) if self.bounded else
                                     rolled(state, new, reading, getattr(self.attend, "first", 0)))
            k, v = entries.transpose(1, 2).split([self.keys, self.groups], dim=1)
        return self.outward(merge_heads(self.attend(q, k, v, q_pos, k_pos, reading))), state

    def stream_weights(self) -> list[Tensor]:
        """The weights between values and the residual stream: not those of queries and keys."""
        return [self.inward.weight[(self.queries + self.keys) * self.head_width:], self.outward.weight]
