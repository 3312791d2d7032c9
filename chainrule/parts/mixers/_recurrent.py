"""What the recurrent mixers have in common: a loop over time, one direction or both, and states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.watching import note, watched


@dataclass(frozen=True)
class Hidden:
    """(B, D)."""

    h: Tensor


class Cell(nn.Module):
    """One direction of a recurrence: the inputs of a whole sequence are projected at once, then time goes step by step.

    A cell says how to `project` and how to `step`; one that torch has a fused kernel for overrides `forward` and comes
    back here when it `goes_by_steps`. The loop is left to autograd: a backward pass written by hand, with one product
    for the gradient of all steps' weights, was 1.0 to 1.4 times as fast (widths 128 to 650).
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.hidden = hidden

    def start(self, batch: int, like: Tensor) -> Any:
        return Hidden(like.new_zeros(batch, self.hidden))

    def project(self, x: Tensor) -> Tensor:
        """(B, T, inputs) to the part of the gates that does not wait for h."""
        raise NotImplementedError

    def step(self, z: Tensor, state: Any) -> tuple[Any, dict[str, Tensor]]:
        """The equations: the state after a step, and its gates by name."""
        raise NotImplementedError

    def stepper(self) -> Callable[[Tensor, Any], tuple[Any, dict[str, Tensor]]]:
        """The step of one sequence; a cell whose weights are drawn anew for each draws them here."""
        return self.step

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, dict[str, Tensor], Any]:
        """(B, T, hidden) states, values to note while the model is watched, and the last state."""
        hidden, gates, step = [], [], self.stepper()
        for z in self.project(x).unbind(1):
            state, seen = step(z, state)
            hidden.append(state.h)
            gates.append(seen)
        y = torch.stack(hidden, dim=1) if hidden else x.new_zeros(len(x), 0, self.hidden)
        if not watched():
            return y, {}, state
        note("steps", tuple(hidden))  # each in the graph by itself, for gradients through time
        return y, {"hidden": y} | {name: torch.stack([seen[name] for seen in gates], dim=1) for name in gates[0]}, state


def goes_by_steps(x: Tensor) -> bool:
    """Whether a loop is better than a fused kernel: it is watched, or there is one token on a CPU.

    There the kernel first puts its weights in order: 5.1 ms a token against 0.3 for an LSTM of width 512.
    """
    return watched() or (x.shape[1] == 1 and x.device.type == "cpu")


class Recurrent(nn.Module):
    """A cell that reads forward; or two of half the width, one of which reads each row from its last token backward.

    Schuster & Paliwal 1997. Padding behind a row is never read by the second before the row itself. What comes out is
    as wide as what goes in, or `hidden` wide.
    """

    recurrent = True  # what it remembers of one stretch of text it takes along to the next

    def __init__(self, place: Place, directions: int | None, make: Callable[[int, int], Cell],
                 hidden: int | None = None):
        super().__init__()
        if hidden is not None and hidden < 1:
            raise OptionError(f"{type(self).__name__}.hidden", hidden, "at least 1, or null for the width before it")
        width, usual = hidden or place.width, 1 if place.causal else 2
        self.output_width = width
        directions = usual if directions is None else directions
        if directions != usual:
            raise OptionError(f"{type(self).__name__}.directions", directions,
                              "1 where what follows must not be seen" if place.causal else "2 to read both ways")
        if width % directions:
            raise OptionError(f"{type(self).__name__}.directions", directions, f"a divisor of width {width}")
        self.cell = make(place.width, width // directions)
        self.reversed_cell = make(place.width, width // directions) if directions == 2 else None

    def start(self, batch: int, room: int, like: Tensor) -> Any:
        return self.cell.start(batch, like)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any]:
        assert reading.causal == (self.reversed_cell is None), "built for one way of reading, and used for the other"
        assert state is None or reading.causal, "both directions need the whole sequence at once"
        y, seen, after = self.cell(x, self.cell.start(len(x), x) if state is None else state)
        if self.reversed_cell is not None:
            back, seen_back, _ = self.reversed_cell(backward(x, reading), self.reversed_cell.start(len(x), x))
            y = torch.cat([y, backward(back, reading)], dim=-1)
            seen = {name: torch.cat([seen[name], backward(seen_back[name], reading)], dim=-1) for name in seen}
        for name, value in seen.items():
            note(name, value)
        return y, after if reading.causal else None


def backward(x: Tensor, reading: Reading) -> Tensor:
    """(B, T, …) with the real tokens of each row in the opposite order; padding stays where it is."""
    if reading.lengths is None:
        return x.flip(1)
    time = torch.arange(x.shape[1], device=x.device)
    last = reading.lengths[:, None] - 1
    order_BT = torch.where(time <= last, last - time, time)
    return x.gather(1, order_BT[:, :, None].expand_as(x))


def spread_uniformly(cell: nn.Module, spread: float) -> None:
    """Weights uniform within ± spread, biases 0."""
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.uniform_(-spread, spread) if parameter.dim() > 1 else parameter.zero_()
