"""The gated linear recurrence of Griffin: a decay of its own for each number, which a gate can speed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Cell, Recurrent
from chainrule.parts.mixers._scan import exact, scan
from chainrule.parts.mixers._short import ShortConvolution
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import watched

SHARPEST = 8.0  # c: an open gate forgets as c closed steps of speed would


@dataclass(frozen=True)
class GatedState:
    """(B, D), and the (B, kernel − 1, D) inputs that the convolution still sees."""

    h: Tensor
    inputs: Tensor


@part
class GatedLinearRecurrence(Recurrent):
    r"""A linear recurrence with a gate on its decay and one on its input, behind a short convolution.

    h_t = a_t ⊙ h_{t−1} + √(1 − a_t²) ⊙ i_t ⊙ u_t,   a_t = σ(Λ)^{8 r_t},   r_t, i_t = σ(W u_t + b)
    u = convolution(W_u x),   y_t = W_o (GeLU(W_g x_t) ⊙ h_t)

    De et al. 2024 (Griffin), arXiv:2402.19427, §2.3 and eq. 1–4 (RG-LRU). Departures: W is a full matrix, there a
    block-diagonal one, and the recurrence is as wide as the stream. σ(Λ)⁸ starts uniform within 0.9 and 0.999, W_o as
    N(0, 1/(D · depth)), other weights as N(0, 1/inputs), biases at 0.
    """

    def __init__(self, place: Place, *, kernel: int = 4, directions: Literal[1, 2] | None = None):
        super().__init__(place, directions,
                         lambda inputs, hidden: GriffinCell(inputs, hidden, kernel, place.depth))


class GriffinCell(Cell):
    """The equations, for all tokens at once."""

    def __init__(self, inputs: int, hidden: int, kernel: int, depth: int):
        super().__init__(hidden)
        self.inward = Linear(inputs, 2 * hidden)
        self.convolution = ShortConvolution("GatedLinearRecurrence", hidden, kernel)
        self.gates = Linear(hidden, 2 * hidden)
        self.decay = nn.Parameter((torch.empty(hidden).uniform_(0.9, 0.999) ** (1 / SHARPEST)).logit())  # Λ
        self.outward = Linear(hidden, hidden, depth=depth)

    def start(self, batch: int, like: Tensor) -> GatedState:
        return GatedState(exact(like.new_zeros(batch, self.hidden)), self.convolution.start(batch, like))

    def forward(self, x: Tensor, state: GatedState) -> tuple[Tensor, dict[str, Tensor], GatedState]:
        u, open_ = self.inward(x).chunk(2, dim=-1)
        u, seen = self.convolution(u, state.inputs)
        faster, put = exact(self.gates(u)).sigmoid().chunk(2, dim=-1)
        log_a = SHARPEST * F.logsigmoid(exact(self.decay)) * faster
        a, scale = log_a.exp(), (-torch.expm1(2 * log_a)).clamp_min(1e-12).sqrt()
        h = scan(a, scale * put * u, state.h.to(a.dtype))
        y = self.outward((F.gelu(open_) * h).to(x.dtype))
        shown = {"hidden": h, "decay": a, "input_gate": put, "output_gate": F.gelu(open_)} if watched() else {}
        return y, shown, GatedState(h[:, -1] if x.shape[1] else state.h, seen)
