"""Self-attention of several heads in one module, between its two linear maps."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._attention import causal, score_gradient, weights
from chainrule.engine.modules.rotary import angles, turned
from chainrule.engine.tensor import Array
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class SelfAttention(Module):
    r"""Queries, keys and values side by side (B, T, 3 D) to what each place takes from those it sees (B, T, D).

    For each head:  P = softmax(Q Kᵀ / √E),   Y = P V,   with Q and K turned by their places if `rotary` is a base.
    dV = Pᵀ dY,   dP = dY Vᵀ,   dS = P ⊙ (dP − Σ_k dP ⊙ P),   dQ = dS K / √E,   dK = dSᵀ Q / √E, both turned back

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1; Su et al. 2021, arXiv:2104.09864. Fused, so that heads are views of
    one array and their gradients are written side by side. With `causal` no place sees one behind it.
    """

    def __init__(self, *, heads: int = 4, causal: bool = True, rotary: float | None = None):
        if heads < 1:
            raise OptionError("SelfAttention.heads", heads, "at least 1")
        self.heads, self.causal, self.rotary = heads, causal, rotary

    def forward(self, qkv: Array) -> tuple[Array, tuple[Any, ...]]:
        if qkv.ndim != 3 or qkv.shape[-1] % (3 * self.heads):
            raise UsageError(f"self_attention was given shape {qkv.shape}, expected (batch, time, a multiple of "
                             f"{3 * self.heads}).")
        q, k, v = heads_of(qkv, self.heads)
        around = None
        if self.rotary is not None:
            around = angles(q.shape[2], q.shape[3], self.rotary, 0, qkv.dtype.str)
            q, k = turned(q, *around), turned(k, *around)
        score = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-1, -2)
        if self.causal:
            score += hidden(score.shape[-1], score.dtype.str)
        weight = weights(score)
        note("attention", weight)
        y = np.matmul(weight, v)
        return y.transpose(0, 2, 1, 3).reshape(*qkv.shape[:2], qkv.shape[2] // 3), (q, k, v, weight, around)

    def backward(self, dy: Array, memory: tuple[Any, ...]) -> Array:
        q, k, v, weight, around = memory
        batch, length, width = dy.shape
        d_qkv = np.empty((batch, length, 3 * width), dy.dtype)
        dq, dk, dv = heads_of(d_qkv, self.heads)
        dy = dy.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)
        dv[...] = weight.swapaxes(-1, -2) @ dy
        ds = score_gradient(weight, dy @ v.swapaxes(-1, -2))
        ds *= q.shape[-1] ** -0.5
        d_turned = ds @ k, ds.swapaxes(-1, -2) @ q
        for place, given in zip((dq, dk), d_turned, strict=True):
            place[...] = given if around is None else turned(given, around[0], -around[1])
        return d_qkv

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SelfAttention, list[Array]]:
        return SelfAttention(heads=2, rotary=100.0), [random.normal(size=(2, 5, 18))]


def heads_of(qkv: Array, heads: int) -> tuple[Array, Array, Array]:
    """Views (B, H, T, E) of queries, keys and values."""
    each = qkv.reshape(*qkv.shape[:2], 3, heads, qkv.shape[2] // (3 * heads)).transpose(2, 0, 3, 1, 4)
    return each[0], each[1], each[2]


@functools.lru_cache(maxsize=16)
def hidden(length: int, kind: str) -> Array:
    """(T, T) to be added to scores: −∞ at keys behind their query. Not to be written to."""
    found = np.where(causal(length, length), 0, -np.inf).astype(kind)
    found.flags.writeable = False
    return found
