"""Convolution over one axis."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._convolution import Convolution, checked
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Convolution1d(Convolution):
    r"""The same small map at every place of a sequence: (batch, channels, length).

    y[o, t] = b[o] + Σ_{c, k} W[o, c, k] x[c, s t + k − p]
    dx[c, u] = Σ_{o, k, t: s t + k − p = u} W[o, c, k] dy[o, t]
    dW[o, c, k] = Σ_t dy[o, t] x[c, s t + k − p],   db[o] = Σ_t dy[o, t]

    Stride s and padding p with zeros. W starts as N(0, 1/(inputs · size)), b at 0.
    """

    def __init__(self, inputs: int, outputs: int, *, size: int = 3, stride: int = 1, padding: int = 0,
                 random: np.random.Generator | None = None):
        super().__init__(inputs, outputs, checked("Convolution1d", size, stride, padding, 1), random)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Convolution1d, list[Array]]:
        return Convolution1d(3, 4, size=3, stride=2, padding=1, random=random), [random.normal(size=(2, 3, 11))]
