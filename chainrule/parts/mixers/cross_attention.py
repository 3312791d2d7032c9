"""Multi-head attention to another sequence: a source to translate, an image to describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError, UsageError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._heads import attention_part, check_heads, merge_heads, norms_of_heads, split_heads
from chainrule.parts.mixers._source import NO_SOURCE
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import part
from chainrule.watching import placed


@dataclass(frozen=True)
class Source:
    """The source's keys and values (B, H, S, E), and how many are real (B,); S = 0 before it has been looked at."""

    keys: Tensor
    values: Tensor
    lengths: Tensor


@part
class CrossAttention(nn.Module):
    r"""Every token looks at another sequence: a source to translate, an image to describe.

    y_t = W_o [head₁ … head_H],   head = Σ_s softmax_s(q_t·k_s / √E) v_s   with keys and values from the source

    Vaswani et al. 2017, arXiv:1706.03762, §3.2.3; the idea is Bahdanau, Cho & Bengio's, 2015, arXiv:1409.0473. The
    source is projected once, at the first token; the state keeps it. `qk_norm` is as in `attention`. Maps inward start
    as N(0, 1/D), W_o as N(0, 1/(D · depth)), biases at 0.
    """

    bounded = True  # it looks at a source of a certain length
    needs_source, mixes_time = True, False

    def __init__(self, place: Place, *, heads: int = 4, bias: bool = False, dropout: float = 0.0,
                 attend: Annotated[Choice, PartOf("parts/attention")] = "full",
                 qk_norm: Annotated[Choice, PartOf("parts/norms")] = "none"):
        super().__init__()
        check_heads("CrossAttention", place.width, heads, dropout)
        self.heads = heads
        self.query = Linear(place.width, place.width, bias=bias)
        self.inward = Linear(place.source_width or place.width, 2 * place.width, bias=bias)
        self.outward = Linear(place.width, place.width, bias=bias, depth=place.depth)
        self.norms = norms_of_heads(qk_norm, place.width // heads, True)
        self.attend = attention_part("CrossAttention", attend, replace(
            place, heads=heads, causal=False, dropout=dropout, context=place.source_context or place.context))
        if self.attend.memory is not None or getattr(self.attend, "within_one_text", False):
            name = attend if isinstance(attend, str) else attend["name"]
            raise OptionError("CrossAttention.attend", name, "full, or another that sees all of the source alike",
                              "The source has no positions in common with the text.")

    def start(self, batch: int, room: int, like: Tensor) -> Source:
        nothing = like.new_zeros(batch, self.heads, 0, self.query.out_features // self.heads)
        return Source(nothing, nothing, torch.zeros(batch, dtype=torch.long, device=like.device))

    def forward(self, x: Tensor, state: Source | None, reading: Reading) -> tuple[Tensor, Source | None]:
        source = state if state is not None and state.keys.shape[2] else self._projected(reading)
        q = split_heads(self.query(x), self.heads)
        q = q if self.norms is None else self.norms[0](q)
        places = torch.arange(max(x.shape[1], source.keys.shape[2]), device=x.device)[None]
        lengths = reading.source_lengths if state is None else source.lengths
        source_reading = replace(reading, lengths=lengths, causal=False, position=None)
        q_pos, k_pos = places[:, :x.shape[1]], places[:, :source.keys.shape[2]]
        y = placed("over source", self.attend, q, source.keys, source.values, q_pos, k_pos, source_reading)
        return self.outward(merge_heads(y)), None if state is None else source

    def _projected(self, reading: Reading) -> Source:
        if reading.source is None:
            raise UsageError(NO_SOURCE)
        k, v = split_heads(self.inward(reading.source), 2 * self.heads).chunk(2, dim=1)
        k = k if self.norms is None else self.norms[1](k)
        real = reading.source_lengths
        if real is None:
            real = torch.full((len(k),), k.shape[2], dtype=torch.long, device=k.device)
        return Source(k, v, real)

    def stream_weights(self) -> list[Tensor]:
        """The weights between values and the residual stream: not those of queries and keys."""
        return [self.inward.weight[self.query.out_features:], self.outward.weight]
