"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.engine.optimizers._optimizer import Optimizer, checked
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class Momentum(Optimizer):
    r"""Steps that go on in the direction of those before: the heavy ball.

    b ← μ b + g,   w ← w − η b

    Polyak 1964; Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning".
    """

    keeps = ("velocity",)

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 0.1, momentum: float = 0.9):
        super().__init__(parameters, rate)
        self.momentum = checked("Momentum.momentum", momentum, 0, 1, or_equal=True)

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        velocity, = kept
        velocity *= self.momentum
        velocity += gradient
        value -= self.rate * velocity
