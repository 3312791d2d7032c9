"""The branched convolutions of the Evolved Transformer's encoder cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._nearby import Last, nearby
from chainrule.parts.mixers._separable import SeparableConvolution
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.watching import note

State = tuple[Last, Last]


@part
class EvolvedEncoderBranches(nn.Module):
    r"""A wide linear map beside a narrow convolution over three tokens, then a separable one over nine.

    h = norm(relu(W x + b) + [relu(conv₃(x)); 0]),   y = [sep₉(h); 0]

    So, Liang & Le 2019, arXiv:1901.11117, Figure 3: 4 D wide, the convolutions D/2, filled up with zeros. The encoder
    cell is `(gbsf)*3`: a gated linear unit (g, `{name: gated_convolution, kernel: 1}`), these branches, attention, and
    a feedforward. A causal reader looks at the last tokens in the place of those around. There is no dropout inside. W
    starts as N(0, 1/D), the convolutions by their number of inputs, the last map 1/√depth as large, biases at 0.
    """

    def __init__(self, place: Place, *, norm: Annotated[Choice, PartOf("parts/norms")] = "layer"):
        super().__init__()
        if place.width < 2:
            raise OptionError("model.width", place.width, "at least 2")
        self.width, hidden, half = place.width, 4 * place.width, place.width // 2
        self.wide, self.narrow = Linear(place.width, hidden), Linear(3 * place.width, half)
        self.norm = build("parts/norms", norm, replace(place, width=hidden))
        self.last = SeparableConvolution(hidden, half, 9, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> State:
        return Last(like.new_zeros(batch, 2, self.width)), self.last.start(batch, like)

    def forward(self, x: Tensor, state: State | None, reading: Reading) -> tuple[Tensor, State]:
        first, second = state or (None, None)
        near, after = nearby(x, 3, first, reading)
        wide, narrow = self.wide(x).relu(), self.narrow(near).relu()
        hidden = self.norm(wide + F.pad(narrow, (0, wide.shape[-1] - narrow.shape[-1])))
        note("branches", hidden)
        y, later = self.last(hidden, second, reading)
        return F.pad(y, (0, self.width - y.shape[-1])), (after, later)
