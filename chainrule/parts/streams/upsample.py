"""Funnel's way back: a pooled sequence has its first length again."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.parts.streams._stream import Lengths, StreamPart
from chainrule.parts.streams.pool import FULL, Full
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class Upsample(StreamPart):
    r"""Repeats each pooled vector for the positions that it stands for, and adds the stream before the first pooling.

    y_i = g_{⌊i / 2^k⌋} + h_i   after k poolings

    Dai et al. 2020, arXiv:2006.03236, §2.3, eq. 4: g is what the last block made, h what the first one did. A few
    layers behind it mix the two: `(sf)*4 p (sf)*4 p (sf)*4 u (sf)*2` with `model.parts.u=upsample`. It has no
    parameters.
    """

    reads = "both ways"

    def __init__(self, place: Place):
        super().__init__()

    def lengths(self, lengths: Lengths, full: Lengths) -> Lengths:
        return full

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any, Reading]:
        full: Full | None = reading.carried.get(FULL)
        if full is None:
            raise OptionError("model.pattern", "upsample", "a letter with `pool` before it")
        repeated = x.repeat_interleave(full.factor, dim=1)[:, :full.x.shape[1]]
        note("repeated", repeated)
        return repeated + full.x, None, full.reading
