"""Gradient descent with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.engine.optimizers._optimizer import Optimizer, checked
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class Nesterov(Optimizer):
    r"""Momentum that looks one step ahead.

    b ← μ b + g,   w ← w − η (g + μ b)

    Nesterov 1983; in this form Sutskever et al. 2013, "On the importance of initialization and momentum".
    """

    keeps = ("velocity",)

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 0.1, momentum: float = 0.9):
        super().__init__(parameters, rate)
        self.momentum = checked("Nesterov.momentum", momentum, 0, 1)

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        velocity, = kept
        velocity *= self.momentum
        velocity += gradient
        value -= self.rate * (gradient + self.momentum * velocity)
