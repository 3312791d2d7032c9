"""The branched convolutions of the Evolved Transformer's decoder cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.mixers._nearby import Last
from chainrule.parts.mixers._separable import SeparableConvolution
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.watching import note

State = tuple[Last, Last, Last]


@part
class EvolvedDecoderBranches(nn.Module):
    r"""Separable convolutions over eleven and over seven tokens side by side, then another over seven.

    h = norm(relu(sep₁₁(x)) + [sep₇(x); 0]),   y = sep₇(h)

    So, Liang & Le 2019, arXiv:1901.11117, Figure 3: the first is 2 D wide, the second D/2, filled up with zeros. The
    decoder cell is `(abscf)*3` with `a` self- and cross-attention `side_by_side`, these branches, then self-attention,
    cross-attention and a feedforward with `activation: silu`. A causal reader looks at the last tokens, one of both
    sides at those around. There is no dropout inside. Convolutions start by their number of inputs, the last map
    1/√depth as large, biases at 0.
    """

    def __init__(self, place: Place, *, norm: Annotated[Choice, PartOf("parts/norms")] = "layer"):
        super().__init__()
        if place.width < 2:
            raise OptionError("model.width", place.width, "at least 2")
        width, hidden = place.width, 2 * place.width
        self.left, self.right = SeparableConvolution(width, hidden, 11), SeparableConvolution(width, width // 2, 7)
        self.norm = build("parts/norms", norm, replace(place, width=hidden))
        self.last = SeparableConvolution(hidden, width, 7, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> State:
        return self.left.start(batch, like), self.right.start(batch, like), self.last.start(batch, like)

    def forward(self, x: Tensor, state: State | None, reading: Reading) -> tuple[Tensor, State]:
        before = state or (None, None, None)
        left, first = self.left(x, before[0], reading)
        right, second = self.right(x, before[1], reading)
        hidden = self.norm(left.relu() + F.pad(right, (0, left.shape[-1] - right.shape[-1])))
        note("branches", hidden)
        y, third = self.last(hidden, before[2], reading)
        return y, (first, second, third)
