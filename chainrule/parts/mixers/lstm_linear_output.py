"""The long short-term memory as it is often taught: the output gate reads the cell as it is."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.mixers._recurrent import Cell, Recurrent
from chainrule.parts.mixers.lstm import LSTMState, gates
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class LSTMLinearOutput(Recurrent):
    r"""The LSTM as it is often taught: the output gate reads the cell as it is.

    i, f, o = σ(W x_t + U h_{t−1} + b),  g = tanh(…),  c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ c_t

    Hochreiter & Schmidhuber 1997 without the second tanh: the variant NOAF, "no output activation function", of Greff
    et al. 2017, arXiv:1503.04069. The forget gate's bias starts at `forget`, the others at 0; weights start uniform
    within ± spread, which is 1/√D by default.
    """

    def __init__(self, place: Place, *, forget: float = 1.0, spread: float | None = None,
                 directions: Literal[1, 2] | None = None):
        super().__init__(place, directions,
                         lambda inputs, hidden: LinearOutputCell(inputs, hidden, forget, spread or hidden**-0.5))


class LinearOutputCell(Cell):
    """The equations; the four gates are one product, in the order i, f, o, g, so that one call squashes three."""

    def __init__(self, inputs: int, hidden: int, forget: float, spread: float):
        super().__init__(hidden)
        self.inward = nn.Parameter(torch.empty(4 * hidden, inputs).uniform_(-spread, spread))
        self.recurrent = nn.Parameter(torch.empty(4 * hidden, hidden).uniform_(-spread, spread))
        self.bias = nn.Parameter(torch.zeros(4 * hidden))
        with torch.no_grad():
            self.bias[hidden:2 * hidden] = forget

    def start(self, batch: int, like: Tensor) -> LSTMState:
        zero = like.new_zeros(batch, self.hidden)
        return LSTMState(zero, zero)

    def project(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.inward, self.bias)

    def step(self, z: Tensor, state: LSTMState) -> tuple[LSTMState, dict[str, Tensor]]:
        through, g = torch.addmm(z, state.h, self.recurrent.t()).split([3 * self.hidden, self.hidden], dim=1)
        i, f, o = through.sigmoid().chunk(3, dim=1)
        g = g.tanh()
        c = torch.addcmul(f * state.c, i, g)
        return LSTMState(o * c, c), gates(i, f, g, o, c)
