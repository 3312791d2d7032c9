"""Adam with weight decay apart from the gradient."""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.engine.optimizers._optimizer import checked
from chainrule.engine.optimizers.adam import Adam
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class AdamW(Adam):
    r"""Adam, and matrices shrink a little at every step.

    w ← w − η λ w, then as Adam does; λ on matrices only, not on gains and biases.

    Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2.
    """

    def __init__(self, parameters: Iterable[Parameter], *, rate: float = 1e-3, beta1: float = 0.9,
                 beta2: float = 0.95, epsilon: float = 1e-8, weight_decay: float = 0.1):
        super().__init__(parameters, rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self.weight_decay = checked("AdamW.weight_decay", weight_decay, 0, 1, or_equal=True)

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        if value.ndim >= 2:
            value *= 1 - self.rate * self.weight_decay
        super().change(value, gradient, *kept)
