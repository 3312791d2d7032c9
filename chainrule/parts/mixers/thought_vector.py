"""The thought vector: all that a decoder knows of its source is one vector."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor, nn

from chainrule.errors import UsageError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._source import NO_SOURCE
from chainrule.parts.place import Place
from chainrule.parts.poolings.last import Last
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class Thought:
    """(B, 1, D) what the source became; (B, 0, D) before it was read."""

    vector: Tensor


@part
class ThoughtVector(nn.Module):
    r"""Every token gets the last vector of the source, through a gate.

    y_t = σ(V x_t + b) ⊙ W c,   c = s_S, or [→s_S; ←s_1] of a source that is read both ways

    Cho et al. 2014, arXiv:1406.1078, §2.2, give c to every step of the decoder; Sutskever, Vinyals & Le 2014,
    arXiv:1409.3215, only to the first. The gate stands for those of their recurrence. W starts as N(0, 1/(D · depth)),
    V as N(0, 1/D), b at 0.
    """

    bounded = True  # it looks at a source of a certain length
    needs_source, mixes_time = True, False

    def __init__(self, place: Place):
        super().__init__()
        self.last = Last(replace(place, causal=place.source_causal))
        self.gate = Linear(place.width, place.width)
        self.outward = Linear(place.source_width or place.width, place.width, bias=False, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> Thought:
        return Thought(like.new_zeros(batch, 0, self.outward.out_features))

    def forward(self, x: Tensor, state: Thought | None, reading: Reading) -> tuple[Tensor, Thought | None]:
        known = state.vector if state is not None and state.vector.shape[1] else self._read(reading)
        gate = self.gate(x).sigmoid()
        note("gate", gate)
        return gate * known, None if state is None else Thought(known)

    def _read(self, reading: Reading) -> Tensor:
        if reading.source is None:
            raise UsageError(NO_SOURCE)
        return self.outward(self.last(reading.source, reading.source_lengths))[:, None]

    def stream_weights(self) -> list[Tensor]:
        """The weights between the source and the residual stream."""
        return [self.outward.weight]
