"""The token mixing of MLP-Mixer: a small network over positions, the same for every number of the width."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.mixers._along import AlongTime
from chainrule.parts.mixers._cache import Cache
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class Mixed:
    """What both layers have read."""

    inputs: Cache
    hidden: Cache


@part
class MLPMixer(nn.Module):
    r"""Two layers over positions, the same for every number of the width; causal where both matrices are triangular.

    y = W₂ GeLU(W₁ x + b₁) + b₂,   W_{t,s} = 0 for s > t where the text is read from left to right

    Tolstikhin et al. 2021, arXiv:2105.01601, eq. 1: the token mixing; the channel mixing is a feedforward behind it.
    W are context × context. Departures: the hidden layer has a unit for each position, so that triangular matrices make
    it causal, and padding is read as zeros. Row t of W₁ starts as N(0, 1/inputs that it sees), of W₂ as
    N(0, 1/(inputs · depth)), biases at 0.
    """

    bounded = True  # its matrices have so many rows, and its past inputs are kept

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width
        self.first, self.second = AlongTime(place), AlongTime(place)
        self.first.spread_evenly(place.causal)
        self.second.spread_evenly(place.causal, place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> Mixed:
        return Mixed(*(each.start(batch, room, self.width, like) for each in (self.first, self.second)))

    def forward(self, x: Tensor, state: Mixed | None, reading: Reading) -> tuple[Tensor, Mixed | None]:
        hidden, inputs_after = self.first(x, None if state is None else state.inputs, reading)
        hidden = F.gelu(hidden)
        note("hidden", hidden)
        y, hidden_after = self.second(hidden, None if state is None else state.hidden, reading)
        return y, None if state is None else Mixed(inputs_after, hidden_after)
