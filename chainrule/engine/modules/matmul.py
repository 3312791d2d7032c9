"""The product of two matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.errors import UsageError
from chainrule.recipe.registry import part


@part
class Matmul(Module):
    r"""The product of two matrices.

    Y = A B,   dA = dY Bᵀ,   dB = Aᵀ dY
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise UsageError(f"matmul was given shapes {a.shape} and {b.shape}, expected (m, k) and (k, n).")
        return a @ b, (a, b)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Callable[[], Array], Callable[[], Array]]:
        a, b = memory
        return lambda: dy @ b.T, lambda: a.T @ dy

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Matmul, list[Array]]:
        return Matmul(), [random.normal(size=(3, 5)), random.normal(size=(5, 2))]
