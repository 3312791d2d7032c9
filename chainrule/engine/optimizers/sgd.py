"""Plain gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.engine.optimizers._optimizer import Optimizer
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class SGD(Optimizer):
    r"""A step against the gradient.

    w ← w − η g

    Robbins & Monro 1951; g is that of a minibatch.
    """

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 0.1):
        super().__init__(parameters, rate)

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        if self.fused:
            from chainrule.kernels.engine_updates import descend

            descend(value, gradient, self.rate)
        else:
            value -= self.rate * gradient
