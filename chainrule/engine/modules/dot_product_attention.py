"""Scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._attention import causal, check, score_gradient, weights
from chainrule.engine.tensor import Array
from chainrule.errors import UsageError
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class DotProductAttention(Module):
    r"""Each query takes a mean of the values, by how well their keys fit it: attend(q, k, v) or attend(q, k, v, mask).

    P = softmax(Q Kᵀ / √E + mask),   Y = P V
    dV = Pᵀ dY,   dP = dY Vᵀ,   dS = P ⊙ (dP − Σ_k dP ⊙ P),   dQ = dS K / √E,   dK = dSᵀ Q / √E,   dmask = dS

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. A mask of booleans is True where a key is seen, one of numbers is
    added. With `causal` no query sees a key behind it; a query that sees none gives 0.
    """

    def __init__(self, *, causal: bool = False):
        self.causal = causal

    def forward(self, q: Array, k: Array, v: Array, mask: Array | None = None) -> tuple[Array, tuple[Any, ...]]:
        check("dot_product_attention", q, k, v)
        if q.shape[-1] != k.shape[-1]:
            raise UsageError(f"dot_product_attention was given queries of width {q.shape[-1]} and keys of width "
                             f"{k.shape[-1]}, expected the same.")
        score = q @ k.swapaxes(-1, -2)
        score *= q.shape[-1] ** -0.5
        if self.causal and score.shape[-2] > 1:  # the last place sees every key
            np.copyto(score, -np.inf, where=~causal(*score.shape[-2:]))
        weight = weights(score, mask)
        note("attention", weight)
        return weight @ v, (q, k, v, weight, mask is not None)

    def backward(self, dy: Array, memory: tuple[Any, ...]) -> tuple[Array | Callable[[], Array], ...]:
        q, k, v, weight, masked = memory
        ds = score_gradient(weight, dy @ v.swapaxes(-1, -2))
        scale = q.shape[-1] ** -0.5
        return (lambda: (ds @ k) * scale, lambda: (ds.swapaxes(-1, -2) @ q) * scale,
                lambda: weight.swapaxes(-1, -2) @ dy, *([ds] if masked else []))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[DotProductAttention, list[Array]]:
        mask = np.where(random.random((5, 7)) < 0.3, -np.inf, random.normal(size=(5, 7)))
        return DotProductAttention(), [random.normal(size=(2, 5, 3)), random.normal(size=(2, 7, 3)),
                                       random.normal(size=(2, 7, 4)), mask > -1]
