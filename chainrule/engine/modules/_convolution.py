"""What convolutions over one and two axes have in common."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._windows import Sizes, sizes, spread, windows
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError


class Convolution(Module):
    """y[o, t] = b[o] + Σ_{c, k} W[o, c, k] x[c, s t + k − p] for each row, with t and k along one or more axes.

    dx[c, u] = Σ_{o, k, t: s t + k − p = u} W[o, c, k] dy[o, t],   dW[o, c, k] = Σ_t dy[o, t] x[c, s t + k − p],
    db[o] = Σ_t dy[o, t]. Stride s, padding p with zeros on both sides.
    """

    def __init__(self, inputs: int, outputs: int, geometry: tuple[Sizes, Sizes, Sizes],
                 random: np.random.Generator | None):
        if inputs < 1 or outputs < 1:
            raise OptionError(f"{type(self).__name__}.inputs, outputs", (inputs, outputs), "at least 1 each")
        size, self.stride, padding = geometry
        self.size = size
        self.border = ((0, 0), (0, 0), *((each, each) for each in padding))
        draw = (random or np.random.default_rng()).standard_normal((outputs, inputs, *size), np.float32)
        self.weight = Parameter(draw * np.float32((inputs * math.prod(size)) ** -0.5))
        self.bias = Parameter(np.zeros(outputs, np.float32))

    def forward(self, x: Array, weight: Array, bias: Array) -> tuple[Array, tuple[Array, Array]]:
        axes = len(self.size)
        if x.ndim != 2 + axes or x.shape[1] != weight.shape[1]:
            raise UsageError(f"{type(self).__name__} was given shape {x.shape}, expected (batch, {weight.shape[1]}"
                             f"{', length' * axes}).")
        padded = np.pad(x, self.border)
        seen = windows(padded, self.size, self.stride)
        inner = [1, *range(2 + axes, 2 + 2 * axes)]
        y = np.tensordot(weight, seen, (range(1, 2 + axes), inner))  # (outputs, batch, places)
        y += bias.reshape(-1, *(1,) * (1 + axes))
        return y.swapaxes(0, 1), (padded, weight)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Callable[[], Array], Array, Array]:
        padded, weight = memory
        axes = len(self.size)
        outer = [0, *range(2, 2 + axes)]
        dw = np.tensordot(dy, windows(padded, self.size, self.stride), (outer, outer))

        def dx() -> Array:
            given = np.tensordot(dy, weight, (1, 0))  # (batch, places, inputs, size)
            whole = spread(np.moveaxis(given, 1 + axes, 1), padded.shape, self.size, self.stride)
            return whole[tuple(slice(before, length - after)
                               for (before, after), length in zip(self.border, padded.shape, strict=True))]
        return dx, dw, dy.sum(axis=tuple(outer))


def checked(name: str, size: int | Sizes, stride: int | Sizes, padding: int | Sizes,
            axes: int) -> tuple[Sizes, Sizes, Sizes]:
    """Size, stride and padding along each axis."""
    return (sizes(f"{name}.size", size, axes), sizes(f"{name}.stride", stride, axes),
            sizes(f"{name}.padding", padding, axes, least=0))
