"""Powers of each entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Power(Module):
    r"""One array to the power of another entry by entry, broadcast to each other.

    y = aᵇ,   da = dy b aᵇ⁻¹,   db = dy y ln a; the last only for a > 0 (0 at a = 0), and only if it is needed.
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        return (y := a**b), (a, b, y)

    def backward(self, dy: Array, memory: tuple[Array, Array, Array]) -> tuple[Callable[[], Array], ...]:
        a, b, y = memory
        return (lambda: dy * b * a ** np.where(b == 0, 1, b - 1),  # a⁰ has gradient 0, at a = 0 too
                lambda: dy * y * np.log(np.where(a == 0, 1, a)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Power, list[Array]]:
        return Power(), [random.uniform(0.5, 2, size=(3, 5)), random.normal(size=5)]
