"""The simple recurrent network."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.mixers._recurrent import Cell, Hidden, Recurrent, goes_by_steps, spread_uniformly
from chainrule.parts.place import Place
from chainrule.recipe.registry import part

Beginning = Literal["orthogonal", "uniform", "identity"]


@part
class Elman(Recurrent):
    r"""The simple recurrent network: one state, recomputed at every step.

    h_t = φ(W x_t + U h_{t−1} + b)

    Elman 1990, "Finding structure in time", Cognitive Science 14. W starts uniform within ±1/√D, biases at 0; U starts
    as `gain` times an orthogonal matrix (Saxe et al. 2014, arXiv:1312.6120), the same uniform numbers, or the identity
    (with φ = relu: Le, Jaitly & Hinton 2015, arXiv:1504.00941). Gradients go through t steps as the t-th power of U:
    they vanish where it is uniform (its eigenvalues lie within 1/√3) and explode where it is orthogonal with `gain` 2.
    """

    def __init__(self, place: Place, *, activation: Literal["tanh", "relu"] = "tanh",
                 recurrent: Beginning = "orthogonal", gain: float = 1.0, directions: Literal[1, 2] | None = None):
        if gain <= 0:
            raise OptionError("Elman.gain", gain, "more than 0")
        super().__init__(place, directions,
                         lambda inputs, hidden: ElmanCell(inputs, hidden, activation, recurrent, gain))


class ElmanCell(Cell):
    """The equation, and torch's fused kernel for it."""

    def __init__(self, inputs: int, hidden: int, activation: Literal["tanh", "relu"], recurrent: Beginning,
                 gain: float):
        super().__init__(hidden)
        self.fused: Any = nn.RNN(inputs, hidden, nonlinearity=activation, batch_first=True)
        self.activation = torch.tanh if activation == "tanh" else torch.relu
        spread_uniformly(self.fused, hidden**-0.5)
        begin(self.fused.get_parameter("weight_hh_l0"), recurrent, gain)

    def project(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.fused.weight_ih_l0, self.fused.bias_ih_l0 + self.fused.bias_hh_l0)

    def step(self, z: Tensor, state: Hidden) -> tuple[Hidden, dict[str, Tensor]]:
        return Hidden(self.activation(z + state.h @ self.fused.weight_hh_l0.t())), {}

    def forward(self, x: Tensor, state: Hidden) -> tuple[Tensor, dict[str, Tensor], Hidden]:
        if goes_by_steps(x):
            return super().forward(x, state)
        y, h = self.fused(x, state.h[None])
        return y, {}, Hidden(h[0])


def begin(weight: Tensor, how: Beginning, gain: float) -> None:
    """Writes the first values of a recurrent matrix."""
    with torch.no_grad():
        if how == "orthogonal":
            nn.init.orthogonal_(weight)
        elif how == "identity":
            nn.init.eye_(weight)
        weight.mul_(gain)
