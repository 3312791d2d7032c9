"""Branches of the Weighted Transformer: each head has a feedforward of its own, and learned weights."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part, resolve
from chainrule.watching import note

ATTENTIONS = ("attention", "cross_attention")


@part
class WeightedBranches(nn.Module):
    r"""Each head of attention passes a feedforward of its own; learned weights that sum to one add them up.

    y = Σ_i α_i FFN_i(κ_i head_i W_i),   FFN_i(u) = relu(u A_i + a_i) B_i + b_i,   Σ_i κ_i = Σ_i α_i = 1

    Ahmed, Keskar & Socher 2017, arXiv:1711.02132, eq. 3–6. It is attention and feedforward at once: `b*6` in the place
    of `(sf)*6`, and with `attention: cross_attention` `(sb)*6` in the place of `(sxf)*6`. The feedforwards share
    `hidden` numbers (4 D by default). κ and α are softmaxes of learned numbers, where the paper projects onto the
    simplex and freezes them at the end; they start equal. W starts as N(0, 1/E), A as N(0, 1/D), B as
    N(0, H/(hidden · depth)), biases at 0.
    """

    def __init__(self, place: Place, *, attention: Annotated[Choice, PartOf("parts/mixers")] = "attention",
                 hidden: int | None = None):
        super().__init__()
        name = resolve("parts/mixers", attention)["name"]
        if name not in ATTENTIONS:
            raise OptionError("WeightedBranches.attention", name, " or ".join(ATTENTIONS))
        self.attention: Any = build("parts/mixers", attention, place)
        self.attention.outward = nn.Identity()  # what its heads found, side by side
        heads, width, hidden = self.attention.heads, place.width, 4 * place.width if hidden is None else hidden
        if hidden < 1 or hidden % heads:
            raise OptionError("WeightedBranches.hidden", hidden, f"a multiple of heads {heads}")
        own = hidden // heads
        self.apart = self._matrix(heads, width // heads, width)
        self.inward, self.inward_bias = self._matrix(heads, width, own), nn.Parameter(torch.zeros(heads, own))
        self.outward = self._matrix(heads, own, width, depth=place.depth)
        self.outward_bias = nn.Parameter(torch.zeros(heads, width))
        self.kappa, self.alpha = nn.Parameter(torch.zeros(heads)), nn.Parameter(torch.zeros(heads))

    @staticmethod
    def _matrix(heads: int, inputs: int, outputs: int, depth: int = 1) -> nn.Parameter:
        """One matrix for each head."""
        return nn.Parameter(torch.empty(heads, inputs, outputs).normal_(0.0, (inputs * depth) ** -0.5))

    @property
    def bounded(self) -> bool:
        return self.attention.bounded

    def start(self, batch: int, room: int, like: Tensor) -> Any:
        return self.attention.start(batch, room, like)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any]:
        found, state = self.attention(x, state, reading)
        kappa, alpha = self.kappa.softmax(0), self.alpha.softmax(0)
        note("kappa", kappa.expand(len(x), -1))
        note("alpha", alpha.expand(len(x), -1))
        heads = found.unflatten(-1, (len(kappa), -1))
        apart = torch.einsum("bthe,hed->bthd", heads, self.apart) * kappa[:, None]
        inside = (torch.einsum("bthd,hdf->bthf", apart, self.inward) + self.inward_bias).relu()
        y = torch.einsum("bthf,hfd->btd", inside, self.outward * alpha[:, None, None])
        return y + alpha @ self.outward_bias, state

    def stream_weights(self) -> list[Tensor]:
        """The weights between values and the residual stream: not those of queries and keys."""
        values = getattr(self.attention, "groups", self.attention.heads) * self.apart.shape[1]
        return [self.attention.inward.weight[-values:], self.apart, self.inward, self.outward]
