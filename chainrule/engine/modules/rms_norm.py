"""Root-mean-square normalization."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import part


@part
class RMSNorm(Module):
    r"""Mean square 1 over the width, then a learned gain.

    n = r x,   r = 1/√(mean(x²) + ε),   y = g ⊙ n
    dn = g ⊙ dy,   dx = r (dn − n mean(n ⊙ dn)),   dg = Σ dy ⊙ n

    Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4. g starts at 1.
    """

    def __init__(self, width: int, *, epsilon: float = 1e-6):
        if width < 1:
            raise OptionError("RMSNorm.width", width, "at least 1")
        self.epsilon = epsilon
        self.gain = Parameter(np.ones(width, np.float32))

    def forward(self, x: Array, gain: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        if x.shape[-1:] != gain.shape:
            raise UsageError(f"rms_norm was given shape {x.shape}, expected (…, {len(gain)}).")
        r = np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
        r = 1 / np.sqrt(r + self.epsilon)
        n = x * r
        return n * gain, (n, r, gain)

    def backward(self, dy: Array, memory: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        n, r, gain = memory
        dn = dy * gain
        dn -= n * (np.einsum("...d,...d->...", dn, n)[..., None] / len(gain))
        dn *= r
        return dn, np.einsum("rd,rd->d", dy.reshape(-1, len(gain)), n.reshape(-1, len(gain)))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[RMSNorm, list[Array]]:
        norm = RMSNorm(5)
        norm.gain.value = random.normal(1, 0.3, size=5)
        return norm, [random.normal(size=(2, 3, 5))]
