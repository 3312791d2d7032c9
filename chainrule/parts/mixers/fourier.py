"""Fourier mixing: every output is a sum of all inputs, and nothing of it is learned."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class Fourier(nn.Module):
    r"""The real part of the Fourier transform over width and time, in the place of attention.

    y = Re(F_T x F_D) / √(T D),   (F_n)_{jk} = exp(−2πi jk / n)

    Lee-Thorp et al. 2021 (FNet), arXiv:2105.03824, §3.2; the division is a departure, without which the output would be
    √(T D) times as large as the stream. T is the real length of each row, whatever pads it: rows without padding are
    transformed by FFT, in T log T steps; padded ones by a matrix for each length, in T². There are no parameters.
    """

    reads: Literal["both ways"] = "both ways"

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width

    def start(self, batch: int, room: int, like: Tensor) -> None:
        """Nothing is kept: it reads whole sequences."""

    def forward(self, x: Tensor, state: None, reading: Reading) -> tuple[Tensor, None]:
        time = x.shape[1]
        exact = x.to(torch.promote_types(x.dtype, torch.float32))
        real = reading.real(time)
        if real is None:
            y = torch.fft.fft2(exact, norm="ortho").real if len(x) else exact  # MKL refuses a batch without rows
        else:
            y = self._padded(exact.masked_fill(~real[:, :, None], 0), reading)
        note("mixed", y)
        return y.to(x.dtype), None

    def _padded(self, x: Tensor, reading: Reading) -> Tensor:
        """Re(F_T z) = cos · Re z + sin · Im z, of z = x F_D; the angles of F_T are those of each row's length."""
        z = torch.fft.fft(x, norm="ortho")
        cos_BTT, sin_BTT = reading.once(("fourier", x.shape[1], x.dtype),
                                        lambda: _waves(reading.lengths, x.shape[1], x.dtype)).unbind(0)
        with torch.autocast(x.device.type, enabled=False):
            return cos_BTT @ z.real + sin_BTT @ z.imag


def _waves(lengths: Tensor | None, time: int, dtype: torch.dtype) -> Tensor:
    """(2, B, T, T): cos and sin of 2π jk / L, divided by √L. jk is taken modulo L: so it is exact in a long text."""
    assert lengths is not None
    place, size = torch.arange(time, device=lengths.device), lengths.clamp(min=1)[:, None, None]
    angle = 2 * math.pi * (place[:, None] * place % size).to(dtype) / size
    return torch.stack([angle.cos(), angle.sin()]) * size.to(dtype).rsqrt()
