"""The gated recurrent unit, with torch's own fast path."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from chainrule.parts.mixers._recurrent import Cell, Hidden, Recurrent, goes_by_steps, spread_uniformly
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class GRU(Recurrent):
    r"""A recurrence with two gates: what to keep of its state, and what of it to use for the new.

    r, z = σ(W x_t + U h_{t−1} + b),  n = tanh(W x_t + b + r ⊙ (U h_{t−1} + b′)),  h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}

    Cho et al. 2014, arXiv:1406.1078, with the reset gate behind the matrix as in cuDNN (arXiv:1406.1078v1) and z as the
    share that is kept. Weights start uniform within ± spread, which is 1/√D by default; biases at 0.
    """

    def __init__(self, place: Place, *, spread: float | None = None, directions: Literal[1, 2] | None = None):
        super().__init__(place, directions, lambda inputs, hidden: GRUCell(inputs, hidden, spread or hidden**-0.5))


class GRUCell(Cell):
    """The equations, and torch's fused kernel for them."""

    def __init__(self, inputs: int, hidden: int, spread: float):
        super().__init__(hidden)
        self.fused: Any = nn.GRU(inputs, hidden, batch_first=True)
        spread_uniformly(self.fused, spread)

    def project(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.fused.weight_ih_l0, self.fused.bias_ih_l0)

    def step(self, z: Tensor, state: Hidden) -> tuple[Hidden, dict[str, Tensor]]:
        r, keep, candidate = z.chunk(3, dim=-1)
        r_h, keep_h, candidate_h = nn.functional.linear(
            state.h, self.fused.weight_hh_l0, self.fused.bias_hh_l0).chunk(3, dim=-1)
        reset, update = (r + r_h).sigmoid(), (keep + keep_h).sigmoid()
        candidate = (candidate + reset * candidate_h).tanh()
        h = (1 - update) * candidate + update * state.h
        return Hidden(h), {"reset_gate": reset, "update_gate": update, "candidate": candidate}

    def forward(self, x: Tensor, state: Hidden) -> tuple[Tensor, dict[str, Tensor], Hidden]:
        if goes_by_steps(x):
            return super().forward(x, state)
        y, h = self.fused(x, state.h[None])
        return y, {}, Hidden(h[0])
