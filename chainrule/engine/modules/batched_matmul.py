"""Products of many matrices at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.errors import UsageError
from chainrule.recipe.registry import part


@part
class BatchedMatmul(Module):
    r"""Products of matrices in the last two axes, those before broadcast; a vector is a row or a column.

    Y = A B,   dA = dY Bᵀ,   dB = Aᵀ dY for each pair
    """

    def forward(self, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
        if not a.ndim or not b.ndim or a.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
            raise UsageError(f"batched_matmul was given shapes {a.shape} and {b.shape}, expected (…, m, k) and "
                             "(…, k, n).")
        return a @ b, (a, b)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Callable[[], Array], Callable[[], Array]]:
        (a, b), (left, right) = memory, memory
        if left.ndim == 1:
            a, dy = a[None], np.expand_dims(dy, -1 if right.ndim == 1 else -2)
        if right.ndim == 1:
            b, dy = b[:, None], dy[..., None]
        return (lambda: _like(dy @ b.swapaxes(-1, -2), left, -2), lambda: _like(a.swapaxes(-1, -2) @ dy, right, -1))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[BatchedMatmul, list[Array]]:
        return BatchedMatmul(), [random.normal(size=(7, 1, 3, 5)), random.normal(size=(2, 5, 2))]


def _like(gradient: Array, operand: Array, axis: int) -> Array:
    """Without the axis that a vector was given."""
    return gradient.squeeze(axis) if operand.ndim == 1 else gradient
