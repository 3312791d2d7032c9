"""The inputs around each position side by side: what convolutions and windows look at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.reading import Reading


@dataclass(frozen=True)
class Last:
    """The inputs that the next position still sees: (B, size − 1, D)."""

    inputs: Tensor


def nearby(x: Tensor, size: int, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
    """(B, T, size · D): x_{t−size+1} … x_t for a causal reader, otherwise centered on x_t."""
    whole, after = around(x, size, state, reading)
    return torch.cat([whole[:, offset:offset + x.shape[1]] for offset in range(size)], dim=-1), after


def around(x: Tensor, size: int, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
    """(B, T + size − 1, D): the inputs with what lies before and after them, so that `size` of them belong to each.

    Where there is no text there are zeros. A center of even size has one input more on its right.
    """
    assert state is None or reading.causal, "a centered window needs the whole sequence at once"
    if not reading.causal:
        real = reading.real(x.shape[1])
        x = x if real is None else x.masked_fill(~real[:, :, None], 0)  # padding is no text either
    left = size - 1 if reading.causal else (size - 1) // 2
    before = x.new_zeros(len(x), left, x.shape[2]) if state is None else state.inputs
    whole = F.pad(torch.cat([before, x], dim=1), (0, 0, 0, size - 1 - left))
    return whole, Last(whole[:, x.shape[1]:])
