"""The update-gate recurrent network: one gate, nothing else."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.mixers._recurrent import Cell, Hidden, Recurrent
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class UGRNN(Recurrent):
    r"""A recurrence with one gate: how much of its state to keep.

    c = tanh(W x_t + U h_{t−1} + b),  g = σ(W′ x_t + U′ h_{t−1} + b′),  h_t = g ⊙ h_{t−1} + (1 − g) ⊙ c

    Collins, Sohl-Dickstein & Sussillo 2017, arXiv:1611.09913, eq. 5–7. Weights start uniform within ± spread, which is
    1/√D by default; b at 0, b′ at `forget`, so that a fresh network remembers.
    """

    def __init__(self, place: Place, *, forget: float = 1.0, spread: float | None = None,
                 directions: Literal[1, 2] | None = None):
        super().__init__(place, directions,
                         lambda inputs, hidden: UGRNNCell(inputs, hidden, forget, spread or hidden**-0.5))


class UGRNNCell(Cell):
    """The equations; candidate and gate are one product."""

    def __init__(self, inputs: int, hidden: int, forget: float, spread: float):
        super().__init__(hidden)
        self.inward = nn.Parameter(torch.empty(2 * hidden, inputs).uniform_(-spread, spread))
        self.recurrent = nn.Parameter(torch.empty(2 * hidden, hidden).uniform_(-spread, spread))
        self.bias = nn.Parameter(torch.cat([torch.zeros(hidden), torch.full((hidden,), forget)]))

    def project(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.inward, self.bias)

    def step(self, z: Tensor, state: Hidden) -> tuple[Hidden, dict[str, Tensor]]:
        candidate, gate = torch.addmm(z, state.h, self.recurrent.t()).chunk(2, dim=1)
        candidate, gate = candidate.tanh(), gate.sigmoid()
        return Hidden(torch.lerp(candidate, state.h.to(z.dtype), gate)), {"update_gate": gate, "candidate": candidate}
