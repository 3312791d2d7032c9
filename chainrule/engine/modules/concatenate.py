"""Arrays one behind the other."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Concatenate(Module):
    r"""Any number of arrays one behind the other along an axis.

    y = [a b …],   each gets back its piece of dy.
    """

    def __init__(self, *, axis: int = -1):
        self.axis = axis

    def forward(self, *pieces: Array) -> tuple[Array, list[int]]:
        ends = np.cumsum([piece.shape[self.axis] for piece in pieces[:-1]])
        return np.concatenate(pieces, axis=self.axis), ends.tolist()

    def backward(self, dy: Array, ends: list[int]) -> tuple[Array, ...]:
        return tuple(np.split(dy, ends, axis=self.axis))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Concatenate, list[Array]]:
        return Concatenate(axis=1), [random.normal(size=(2, length, 3)) for length in (5, 1, 4)]
