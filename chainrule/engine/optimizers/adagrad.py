"""Adagrad: a learning rate for every parameter, which only falls."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.engine.optimizers._optimizer import Optimizer
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class Adagrad(Optimizer):
    r"""Small steps where gradients were large, from the beginning on.

    s ← s + g²,   w ← w − η g / (√s + ε)

    Duchi, Hazan & Singer 2011, JMLR 12.
    """

    keeps = ("squares",)

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 0.01, epsilon: float = 1e-10):
        super().__init__(parameters, rate)
        self.epsilon = epsilon

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        squares, = kept
        squares += gradient * gradient
        value -= self.rate * gradient / (np.sqrt(squares) + self.epsilon)
