"""RMSprop: gradients divided by a running mean of their size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.engine.optimizers._optimizer import Optimizer, checked
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class RMSprop(Optimizer):
    r"""Gradients divided by a running mean of their size.

    s ← β s + (1 − β) g²,   w ← w − η g / (√s + ε)

    Tieleman & Hinton 2012, lecture 6.5 of "Neural networks for machine learning".
    """

    keeps = ("squares",)

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 0.01, decay: float = 0.99,
                 epsilon: float = 1e-8):
        super().__init__(parameters, rate)
        self.decay, self.epsilon = checked("RMSprop.decay", decay, 0, 1), epsilon

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        squares, = kept
        squares *= self.decay
        squares += (1 - self.decay) * (gradient * gradient)
        value -= self.rate * gradient / (np.sqrt(squares) + self.epsilon)
