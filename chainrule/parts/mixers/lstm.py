"""The long short-term memory, with torch's own fast path."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from chainrule.parts.state import Reading
from chainrule.registry import part


@dataclass(frozen=True)
class LSTMState:
    """(B, D) each."""

    h: Tensor
    c: Tensor


@part
class LSTM(nn.Module):
    r"""i, f, o = σ(W x_t + U h_{t−1} + b),  g = tanh(…),  c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh(c_t)

    Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000, whose bias starts at `forget`. W and U start uniform
    within ±1/√D, as torch does.
    """

    def __init__(self, width: int, depth: int, *, forget: float = 1.0):
        super().__init__()
        self.cell = nn.LSTM(width, width, batch_first=True)
        self.forget = forget
        with torch.no_grad():
            for name, bias in self.cell.named_parameters():
                if name.startswith("bias"):
                    bias.zero_()
                if name == "bias_ih_l0":
                    bias[width:2 * width] = forget

    def start(self, batch: int, room: int, like: Tensor) -> LSTMState:
        zero = like.new_zeros(batch, self.cell.hidden_size)
        return LSTMState(zero, zero)

    def forward(self, x: Tensor, state: LSTMState | None, reading: Reading) -> tuple[Tensor, LSTMState]:
        before = None if state is None else (state.h[None].contiguous(), state.c[None].contiguous())
        y, (h, c) = self.cell(x, before)
        return y, LSTMState(h[0], c[0])
