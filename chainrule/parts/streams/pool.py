"""Funnel pooling: from here on the sequence is shorter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.parts.streams._stream import Lengths, StreamPart
from chainrule.recipe.registry import part
from chainrule.watching import note

FULL = "full"  # under which the stream before the first pooling is carried


@dataclass(frozen=True)
class Full:
    """The stream before it was pooled, how it was read, and how many of its positions are one now."""

    x: Tensor
    reading: Reading
    factor: int


@part
class Pool(StreamPart):
    r"""The mean of each two neighbors, or of `size`: behind it the sequence is half as long, and costs less.

    y_i = mean(x_{2i}, x_{2i+1})   over those that are not padding;   length ⌈T/2⌉, positions 0, 1, 2, …

    Dai et al. 2020, arXiv:2006.03236, §2.2: `(sf)*4 p (sf)*4 p (sf)*4` with `model.parts.p=pool`. Three departures:
    there the first attention behind it still looks at all unpooled keys (only queries are pooled), the first position
    is kept apart, and distances are those of the tokens; here positions are counted anew. It reads both ways, for a
    mean would look ahead; `upsample` brings the length back where every token needs a vector. It has no parameters.
    """

    reads = "both ways"

    def __init__(self, place: Place, *, size: int = 2):
        super().__init__()
        if size < 2:
            raise OptionError("Pool.size", size, "at least 2")
        self.size = size

    def lengths(self, lengths: Lengths, full: Lengths) -> Lengths:
        return -(-lengths // self.size)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any, Reading]:
        time, full = x.shape[1], reading.carried.get(FULL) or Full(x, reading, 1)
        real, real_B = reading.real(time), reading.lengths
        counted = (x.new_ones(1, time) if real is None else real.to(x.dtype))[..., None]
        missing = -time % self.size
        total, there = (F.pad(each, (0, 0, 0, missing)).unflatten(1, (-1, self.size)).sum(2)
                        for each in (x * counted, counted))
        y = total / there.clamp(min=1)
        note("pooled", y)
        shorter = replace(reading, lengths=None if real_B is None else self.lengths(real_B, real_B)
                          ).from_start(y.shape[1], x.device)
        return y, None, shorter.carrying(FULL, replace(full, factor=full.factor * self.size))
