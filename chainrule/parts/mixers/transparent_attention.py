"""Transparent attention: cross-attention to a learned mixture of all layers of the source."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError, UsageError
from chainrule.parts.mixers._source import NO_SOURCE
from chainrule.parts.mixers.cross_attention import CrossAttention, Source
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class TransparentAttention(CrossAttention):
    r"""Every token looks at another sequence, at a learned mixture of what all layers of its encoder have made of it.

    z = Σ_l softmax_l(w) h_l,   y = cross-attention to z;   h₀ is the embedded source, h_l what layer l makes of it

    Bapna et al. 2018, arXiv:1808.07561, §3. Each cross-attention of the decoder has weights w of its own, which start
    at 0: all layers count alike. A layer is `every` sublayers of the encoder, and h_l passes the norm that the encoder
    ends with. Departure: w has no dropout. All else is as in `cross_attention`.
    """

    needs_source_layers = True

    def __init__(self, place: Place, *, heads: int = 4, bias: bool = False, dropout: float = 0.0,
                 attend: Annotated[Choice, PartOf("parts/attention")] = "full", every: int = 2):
        super().__init__(place, heads=heads, bias=bias, dropout=dropout, attend=attend)
        if every < 1:
            raise OptionError("TransparentAttention.every", every, "at least 1")
        self.layers = sorted({*range(0, place.source_depth + 1, every), place.source_depth})
        self.mix = nn.Parameter(torch.zeros(len(self.layers)))

    def _projected(self, reading: Reading) -> Source:
        if reading.source_layers is None:
            raise UsageError(NO_SOURCE)
        shown = [reading.source_layers[layer] for layer in self.layers]
        if len({each.shape[1] for each in shown}) > 1:
            raise UsageError("transparent_attention mixes all layers of the source, and they differ in length. Choose "
                             "cross_attention for x, or a model.source.pattern whose layers are equally long.")
        weights = self.mix.softmax(0).to(shown[0].dtype)
        note("layers", weights.expand(len(shown[0]), -1))
        mixed: Tensor = sum(weight * each for weight, each in zip(weights, shown, strict=True))
        return super()._projected(replace(reading, source=mixed))
