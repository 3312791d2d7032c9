"""The minimal long short-term memory: its gates do not look at the state, so all tokens are computed at once."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Recurrent
from chainrule.parts.mixers._scan import LinearCell, positive
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class MinLSTM(Recurrent):
    r"""A gated recurrence whose two gates see only the input and share one whole: it is trained on all tokens at once.

    h_t = f̂_t ⊙ h_{t−1} + î_t ⊙ g(W x_t + b),   f̂ = f / (f + i),  î = i / (f + i),   f, i = σ(W′ x_t + b′)
    g(x) = x + ½ where x ≥ 0, otherwise σ(x)

    Feng et al. 2024, arXiv:2410.01201, §3.2 and appendix B; the scan is as in `min_gru`. With no exponent above 0,
    f̂ = σ(ln f − ln i). Weights start as N(0, 1/D), biases at 0, that of f at `forget`: a departure.
    """

    def __init__(self, place: Place, *, forget: float = 1.0, directions: Literal[1, 2] | None = None):
        super().__init__(place, directions, lambda inputs, hidden: MinLSTMCell(inputs, hidden, forget))


class MinLSTMCell(LinearCell):
    """The equations; candidate and gates are one product, in the order candidate, f, i."""

    def __init__(self, inputs: int, hidden: int, forget: float):
        super().__init__(hidden)
        self.inward = Linear(inputs, 3 * hidden)
        with torch.no_grad():
            self.inward.bias[hidden:2 * hidden] = forget

    def terms(self, z: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        candidate, forget, put = z.chunk(3, dim=-1)
        candidate = positive(candidate)
        ratio = F.logsigmoid(forget) - F.logsigmoid(put)
        kept, new = ratio.sigmoid(), (-ratio).sigmoid()
        return kept, new * candidate, {"forget_gate": kept, "input_gate": new, "candidate": candidate}
