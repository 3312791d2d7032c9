"""One half of the numbers through a SiLU, as a gate for the other half."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._gate import sigmoid
from chainrule.engine.tensor import Array
from chainrule.errors import UsageError
from chainrule.recipe.registry import part


@part
class SiLUGate(Module):
    r"""The first half of the width through a SiLU, times the second half.

    y = a σ(a) ⊙ b,   da = dy b σ(a) (1 + a (1 − σ(a))),   db = dy a σ(a),   x = [a b]

    Shazeer 2020, arXiv:2002.05202, eq. 6, between its two linear maps.
    """

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        half = x.shape[-1] // 2
        if x.shape[-1] != 2 * half:
            raise UsageError(f"silu_gate was given shape {x.shape}, expected a last axis of even length.")
        a, b = x[..., :half], x[..., half:]
        s = sigmoid(a)
        through = a * s
        return through * b, (x, s, through)

    def backward(self, dy: Array, memory: tuple[Array, Array, Array]) -> Array:
        x, s, through = memory
        half = s.shape[-1]
        dx = np.empty_like(x)
        da, db = dx[..., :half], dx[..., half:]
        np.multiply(dy, through, out=db)
        np.subtract(s, s * through, out=da)
        da += through
        da *= x[..., half:]
        da *= dy
        return dx

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SiLUGate, list[Array]]:
        return SiLUGate(), [random.normal(size=(2, 3, 10))]
