"""Rotary positions: vectors turned by an angle that grows with their place."""

from __future__ import annotations

import functools

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Rotary(Module):
    r"""Vectors (…, T, E) are turned by an angle that grows with their place.

    y = x cos + x′ sin for pairs (i, i + E/2) with angles (offset + t) θᵢ, θᵢ = base^(−2i/E), x′ = (−x₂, x₁)
    dx = dy turned back by the same angles.

    Su et al. 2021, arXiv:2104.09864, eq. 13–15. The last number of an odd width stays as it is.
    """

    def __init__(self, *, base: float = 10_000.0, offset: int = 0):
        self.base, self.offset = base, offset

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        cos, sin = angles(x.shape[-2], x.shape[-1], self.base, self.offset, x.dtype.str)
        return turned(x, cos, sin), (cos, sin)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> Array:
        cos, sin = memory
        return turned(dy, cos, -sin)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Rotary, list[Array]]:
        return Rotary(offset=3), [random.normal(size=(2, 3, 5, 7))]


def turned(x: Array, cos: Array, sin: Array) -> Array:
    """Each pair by its angle."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:2 * half]
    y = np.empty_like(x)
    np.subtract(first * cos, second * sin, out=y[..., :half])
    np.add(second * cos, first * sin, out=y[..., half:2 * half])
    y[..., 2 * half:] = x[..., 2 * half:]
    return y


@functools.lru_cache(maxsize=64)
def angles(length: int, width: int, base: float, offset: int, kind: str) -> tuple[Array, Array]:
    """(T, E/2) each: cos and sin, not to be written to."""
    half = width // 2
    theta = base ** (-np.arange(half) / max(half, 1))
    angle_TE = (offset + np.arange(length))[:, None] * theta
    found = np.cos(angle_TE).astype(kind), np.sin(angle_TE).astype(kind)
    for each in found:
        each.flags.writeable = False
    return found
