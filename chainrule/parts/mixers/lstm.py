"""The long short-term memory, with torch's own fast path."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.mixers._recurrent import Cell, Recurrent, goes_by_steps, spread_uniformly
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@dataclass(frozen=True)
class LSTMState:
    """(B, D) each."""

    h: Tensor
    c: Tensor


@part
class LSTM(Recurrent):
    r"""A recurrence with a cell that is added to, and three gates around it.

    i, f, o = σ(W x_t + U h_{t−1} + b),  g = tanh(…),  c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh(c_t)

    Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000, whose bias starts at `forget` (Jozefowicz et al.
    2015), the other biases at 0. Weights start uniform within ± spread, which is 1/√D by default, as torch does.
    With `hidden` h is so wide, where the wiring is one that lets the width change. In training a share `weight_drop` of
    U's numbers is set to 0 and the others divided by 1 − weight_drop, the same at all t of a batch: DropConnect of
    Merity, Keskar & Socher 2018, arXiv:1708.02182, §2.
    """

    def __init__(self, place: Place, *, hidden: int | None = None, forget: float = 1.0, spread: float | None = None,
                 weight_drop: float = 0.0, directions: Literal[1, 2] | None = None):
        if not 0 <= weight_drop < 1:
            raise OptionError("LSTM.weight_drop", weight_drop, "at least 0 and less than 1")
        super().__init__(place, directions, lambda inputs, width: LSTMCell(
            inputs, width, forget, spread or width**-0.5, weight_drop), hidden)


class LSTMCell(Cell):
    """The equations, and torch's fused kernel for them; gates lie in torch's order i, f, g, o."""

    def __init__(self, inputs: int, hidden: int, forget: float, spread: float, weight_drop: float = 0.0):
        super().__init__(hidden)
        self.weight_drop = weight_drop
        self.fused: Any = nn.LSTM(inputs, hidden, batch_first=True)
        spread_uniformly(self.fused, spread)
        with torch.no_grad():
            self.fused.get_parameter("bias_ih_l0")[hidden:2 * hidden] = forget

    def start(self, batch: int, like: Tensor) -> LSTMState:
        zero = like.new_zeros(batch, self.hidden)
        return LSTMState(zero, zero)

    def project(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.fused.weight_ih_l0, self.fused.bias_ih_l0 + self.fused.bias_hh_l0)

    def recurrent(self) -> Tensor:
        """U; in training without those of its numbers that are dropped."""
        return F.dropout(self.fused.weight_hh_l0, self.weight_drop, self.training and self.weight_drop > 0)

    def stepper(self) -> Callable[[Tensor, Any], tuple[Any, dict[str, Tensor]]]:
        return partial(self.step, recurrent=self.recurrent())

    def step(self, z: Tensor, state: LSTMState, recurrent: Tensor | None = None
             ) -> tuple[LSTMState, dict[str, Tensor]]:
        weight = self.fused.weight_hh_l0 if recurrent is None else recurrent
        i, f, g, o = (z + state.h @ weight.t()).chunk(4, dim=-1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * state.c + i * g
        return LSTMState(o * c.tanh(), c), gates(i, f, g, o, c)

    def forward(self, x: Tensor, state: LSTMState) -> tuple[Tensor, dict[str, Tensor], LSTMState]:
        if goes_by_steps(x):
            return super().forward(x, state)
        if x.device.type == "cpu" and torch.is_autocast_enabled("cpu") and not _has_half():
            with torch.autocast("cpu", enabled=False):
                y, h, c = self._fused(x.float(), state.h.float()[None], state.c.float()[None])
        else:
            y, h, c = self._fused(x, state.h[None], state.c[None])
        return y, {}, LSTMState(h[0], c[0])

    def _fused(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if not (self.weight_drop and self.training):
            y, (h, c) = self.fused(x, (h, c))
            return y, h, c
        return _with_weights(x, h, c, [self.fused.weight_ih_l0, self.recurrent(), self.fused.bias_ih_l0,
                                       self.fused.bias_hh_l0])


@torch.compiler.disable  # or the compiler would unroll it into its steps
def _with_weights(x: Tensor, h: Tensor, c: Tensor, weights: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """torch's kernel with weights that are no parameters; cuDNN wants to be told that they do not lie side by side."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous chunk")
        return torch._VF.lstm(x, (h, c), weights, True, 1, 0.0, True, False, True)


def _has_half() -> bool:
    """Whether the processor computes in bfloat16; where it does not, oneDNN's kernel refuses mixed precision."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def gates(i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> dict[str, Tensor]:
    """What a step of a long short-term memory shows."""
    return {"input_gate": i, "forget_gate": f, "candidate": g, "output_gate": o, "cell": c}
