"""Dropout: numbers left out at random in training."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.errors import OptionError
from chainrule.recipe.registry import part


@part
class Dropout(Module):
    r"""In training each number becomes 0 with probability `rate`, and the others grow so that the mean stays.

    y = m ⊙ x,   m = 0 with probability rate, otherwise 1/(1 − rate),   dx = m ⊙ dy;   y = x where not training.

    Srivastava et al. 2014, JMLR 15. Each module draws from a generator of its own.
    """

    def __init__(self, *, rate: float = 0.1, seed: int = 0):
        if not 0 <= rate < 1:
            raise OptionError("Dropout.rate", rate, "at least 0 and less than 1")
        self.rate, self.random = rate, np.random.default_rng(seed)

    def forward(self, x: Array) -> tuple[Array, Array | None]:
        if not self.training or not self.rate:
            return x, None
        mask = (self.random.random(x.shape, np.float32) >= self.rate).astype(x.dtype)
        mask *= 1 / (1 - self.rate)
        return x * mask, mask

    def backward(self, dy: Array, mask: Array | None) -> Array:
        return dy if mask is None else dy * mask

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Dropout, list[Array]]:
        return Dropout(rate=0.3, seed=1), [random.normal(size=(5, 7))]
