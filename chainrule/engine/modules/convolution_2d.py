"""Convolution over two axes."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._convolution import Convolution, checked
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Convolution2d(Convolution):
    r"""The same small map at every place of a picture: (batch, channels, height, width).

    y[o, i, j] = b[o] + Σ_{c, k, l} W[o, c, k, l] x[c, s i + k − p, s j + l − p],   and backward as over one axis:
    dx gets W dy from every window it lay in,   dW = Σ_{i, j} dy[o, i, j] x[c, s i + k − p, s j + l − p],   db = Σ dy

    Stride s and padding p with zeros. W starts as N(0, 1/(inputs · size)), b at 0.
    """

    def __init__(self, inputs: int, outputs: int, *, size: int | tuple[int, int] = 3, stride: int | tuple[int, int] = 1,
                 padding: int | tuple[int, int] = 0, random: np.random.Generator | None = None):
        super().__init__(inputs, outputs, checked("Convolution2d", size, stride, padding, 2), random)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Convolution2d, list[Array]]:
        return Convolution2d(3, 4, size=(3, 2), stride=2, padding=1, random=random), [random.normal(size=(2, 3, 7, 5))]
