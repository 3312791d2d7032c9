"""Layer normalization."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import part


@part
class LayerNorm(Module):
    r"""Mean 0 and variance 1 over the width, then a learned gain and bias.

    n = r (x − mean x),   r = 1/√(var x + ε),   y = g ⊙ n + b
    dn = g ⊙ dy,   dx = r (dn − mean(dn) − n mean(n ⊙ dn)),   dg = Σ dy ⊙ n,   db = Σ dy

    Ba, Kiros & Hinton 2016, arXiv:1607.06450, eq. 4; ε inside the root. g starts at 1, b at 0.
    """

    def __init__(self, width: int, *, epsilon: float = 1e-5, bias: bool = True):
        if width < 1:
            raise OptionError("LayerNorm.width", width, "at least 1")
        self.epsilon = epsilon
        self.gain = Parameter(np.ones(width, np.float32))
        self.bias = Parameter(np.zeros(width, np.float32)) if bias else None

    def forward(self, x: Array, gain: Array, bias: Array | None = None) -> tuple[Array, tuple[Array, Array, Array]]:
        if x.shape[-1:] != gain.shape:
            raise UsageError(f"layer_norm was given shape {x.shape}, expected (…, {len(gain)}).")
        n = x - x.mean(axis=-1, keepdims=True)
        r = np.einsum("...d,...d->...", n, n)[..., None] / x.shape[-1]
        r = 1 / np.sqrt(r + self.epsilon)
        n *= r
        y = n * gain
        if bias is not None:
            y += bias
        return y, (n, r, gain)

    def backward(self, dy: Array, memory: tuple[Array, Array, Array]) -> tuple[Array, ...]:
        n, r, gain = memory
        dn = dy * gain
        dn -= dn.mean(axis=-1, keepdims=True)
        dn -= n * (np.einsum("...d,...d->...", dn, n)[..., None] / len(gain))
        dn *= r
        rows_dy, rows_n = dy.reshape(-1, len(gain)), n.reshape(-1, len(gain))
        dg = np.einsum("rd,rd->d", rows_dy, rows_n)
        return (dn, dg) if self.bias is None else (dn, dg, rows_dy.sum(axis=0))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[LayerNorm, list[Array]]:
        norm = LayerNorm(5)
        norm.gain.value = random.normal(1, 0.3, size=5)
        return norm, [random.normal(size=(2, 3, 5))]
