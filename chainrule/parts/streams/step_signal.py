"""The Universal Transformer's coordinates: where a position is, and how often the block has been applied."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.positions._waves import waves
from chainrule.parts.reading import Reading
from chainrule.parts.streams._stream import StreamPart
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class StepSignal(StreamPart):
    r"""Adds waves that tell the position and the step, at the beginning of each step of a repeated block.

    x_i + P_i^t,   P^t_{i,2j} = sin(i / base^(2j/D)) + sin(t / base^(2j/D)),   P^t_{i,2j+1} the same with cos

    Dehghani et al. 2019, arXiv:1807.03819, eq. 6–7: in `[tsf]*6` with `model.parts.t=step_signal`, t is 1 to 6. As in
    the paper, `model.position` is then `none`. It has no parameters.
    """

    def __init__(self, place: Place, *, base: float = 10_000.0):
        super().__init__()
        self.base, self.times, self.key = base, place.times, f"step {place.index}"

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any, Reading]:
        assert reading.positions is not None
        step = reading.carried.get(self.key, 0) % self.times + 1
        where, when = (waves(each, x.shape[-1], self.base).to(x.dtype)
                       for each in (reading.positions, reading.positions.new_full((1, 1), step)))
        note("signal", (where + when).expand(len(x), -1, -1))
        return x + where + when, None, reading.carrying(self.key, step)
