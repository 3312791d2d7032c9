"""One entry of each row, chosen by index."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Gather(Module):
    r"""Along an axis, the entries whose numbers are given: as many axes in the index as in x.

    y[i, j] = x[i, index[i, j]],   dx[i, k] = Σ_{j: index[i, j] = k} dy[i, j]
    """

    def __init__(self, *, axis: int = -1):
        self.axis = axis

    def forward(self, x: Array, index: Array) -> tuple[Array, tuple[tuple[int, ...], Array]]:
        return np.take_along_axis(x, index, self.axis), (x.shape, index)

    def backward(self, dy: Array, memory: tuple[tuple[int, ...], Array]) -> tuple[Array, None]:
        shape, index = memory
        dx = np.zeros(shape, dy.dtype)
        places: list[Array] = list(np.ogrid[tuple(slice(length) for length in dy.shape)])
        places[self.axis] = index
        np.add.at(dx, tuple(places), dy)
        return dx, None

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Gather, list[Array]]:
        return Gather(axis=1), [random.normal(size=(2, 5, 3)), random.integers(5, size=(2, 7, 3))]
