"""The linear map: a matrix and a bias."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import part

JIT_PAYS_FROM = 100_000  # entries: below, NumPy has done many before Numba is loaded


@part
class Linear(Module):
    r"""A matrix times every row, and a bias.

    y = x Wᵀ + b,   dx = dy W,   dW = dyᵀ x,   db = Σ dy over rows

    W (outputs, inputs) starts as N(0, 1/inputs), or `deviation`² for its variance; b at 0.
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, deviation: float | None = None,
                 random: np.random.Generator | None = None):
        if inputs < 1 or outputs < 1:
            raise OptionError("Linear.inputs, outputs", (inputs, outputs), "at least 1 each")
        draw = (random or np.random.default_rng()).standard_normal((outputs, inputs), np.float32)
        self.weight = Parameter(draw * np.float32(inputs**-0.5 if deviation is None else deviation))
        self.bias = Parameter(np.zeros(outputs, np.float32)) if bias else None

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> tuple[Array, tuple[Array, Array]]:
        if x.shape[-1:] != weight.shape[1:]:
            raise UsageError(f"linear was given shape {x.shape}, expected (…, {weight.shape[1]}).")
        y = (x.reshape(-1, x.shape[-1]) @ weight.T).reshape(*x.shape[:-1], len(weight))
        if bias is not None:
            y += bias
        return y, (x, weight)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Array | Callable[[], Array], ...]:
        x, weight = memory
        rows_dy, rows_x = dy.reshape(-1, len(weight)), x.reshape(-1, weight.shape[1])
        dw = outer(rows_dy[0], rows_x[0]) if len(rows_x) == 1 else rows_dy.T @ rows_x
        return (lambda: (rows_dy @ weight).reshape(x.shape), dw, *([] if self.bias is None else [rows_dy.sum(axis=0)]))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Linear, list[Array]]:
        return Linear(5, 7, random=random), [random.normal(size=(2, 3, 5))]


def outer(a: Array, b: Array) -> Array:
    """a bᵀ of two vectors; a matrix product with one row takes 13 times as long in NumPy."""
    if a.size * b.size < JIT_PAYS_FROM:
        return np.einsum("i,j->ij", a, b)
    from chainrule.kernels.engine_products import outer as kernel

    return kernel(a, b)
