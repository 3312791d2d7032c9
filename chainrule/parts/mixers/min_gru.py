"""The minimal gated recurrent unit: its gate does not look at the state, so all tokens are computed at once."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Recurrent
from chainrule.parts.mixers._scan import LinearCell, positive
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class MinGRU(Recurrent):
    r"""A gated recurrence whose one gate sees only the input: it is trained on all tokens at once.

    h_t = (1 − z_t) ⊙ h_{t−1} + z_t ⊙ g(W x_t + b),   z_t = σ(W′ x_t + b′),   g(x) = x + ½ where x ≥ 0, otherwise σ(x)

    Feng et al. 2024, arXiv:2410.01201, §3.1 and appendix B. There the sum over time is taken of logarithms, since it is
    divided by a product of gates; the scan here does neither, and gives the same numbers. Weights start as N(0, 1/D),
    b at 0, b′ at −`forget`, so that a fresh network remembers: a departure.
    """

    def __init__(self, place: Place, *, forget: float = 1.0, directions: Literal[1, 2] | None = None):
        super().__init__(place, directions, lambda inputs, hidden: MinGRUCell(inputs, hidden, forget))


class MinGRUCell(LinearCell):
    """The equations; candidate and gate are one product."""

    def __init__(self, inputs: int, hidden: int, forget: float):
        super().__init__(hidden)
        self.inward = Linear(inputs, 2 * hidden)
        with torch.no_grad():
            self.inward.bias[hidden:] = -forget

    def terms(self, z: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        candidate, gate = z.chunk(2, dim=-1)
        candidate = positive(candidate)
        update = gate.sigmoid()
        return (-gate).sigmoid(), update * candidate, {"update_gate": update, "candidate": candidate}
