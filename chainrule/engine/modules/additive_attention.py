"""Additive attention, with a small network for the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules._attention import check, score_gradient, weights
from chainrule.engine.tensor import Array, Parameter
from chainrule.recipe.registry import part


@part
class AdditiveAttention(Module):
    r"""Each query takes a mean of the values, by scores of a small network: attend(q, k, v) or attend(q, k, v, mask).

    h_qk = tanh(W q + U k),   s_qk = a·h_qk,   P = softmax(s + mask),   Y = P V
    dV = Pᵀ dY,   ds = P ⊙ (dP − Σ_k dP ⊙ P),   dP = dY Vᵀ,   da = Σ ds_qk h_qk,   dh_qk = ds_qk a ⊙ (1 − h²)
    dq = Wᵀ Σ_k dh,   dk = Uᵀ Σ_q dh,   dW = Σ (Σ_k dh) qᵀ,   dU = Σ (Σ_q dh) kᵀ

    Bahdanau, Cho & Bengio 2015, arXiv:1409.0473, §A.1.2. All three start as N(0, 1/inputs).
    """

    def __init__(self, query_width: int, key_width: int, *, hidden: int = 64,
                 random: np.random.Generator | None = None):
        draw = random or np.random.default_rng()

        def begin(*shape: int) -> Parameter:
            return Parameter(draw.standard_normal(shape, np.float32) * np.float32(shape[-1] ** -0.5))
        self.query, self.key, self.score = begin(hidden, query_width), begin(hidden, key_width), begin(hidden)

    def __call__(self, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
        return super().__call__(q, k, v, np.ones(k.shape[-2], bool) if mask is None else mask)

    def forward(self, q: Array, k: Array, v: Array, mask: Array, *parameters: Array) -> tuple[Array, tuple[Any, ...]]:
        check("additive_attention", q, k, v)
        w, u, a = parameters
        h = np.tanh((q @ w.T)[..., :, None, :] + (k @ u.T)[..., None, :, :])
        weight = weights(h @ a, mask)
        return weight @ v, (q, k, v, parameters, h, weight)

    def backward(self, dy: Array, memory: tuple[Any, ...]) -> tuple[Array, ...]:
        q, k, v, (w, u, a), h, weight = memory
        ds = score_gradient(weight, dy @ v.swapaxes(-1, -2))
        dh = (1 - h * h) * a
        dh *= ds[..., None]
        d_query, d_key = dh.sum(axis=-2), dh.sum(axis=-3)
        return (d_query @ w, d_key @ u, weight.swapaxes(-1, -2) @ dy, ds, _outer(d_query, q), _outer(d_key, k),
                np.tensordot(ds, h, ds.ndim))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[AdditiveAttention, list[Array]]:
        attend = AdditiveAttention(3, 4, hidden=6, random=random)
        return attend, [random.normal(size=(2, 5, 3)), random.normal(size=(2, 7, 4)), random.normal(size=(2, 7, 2)),
                        random.random((5, 7)) < 0.7]


def _outer(dy: Array, x: Array) -> Array:
    """Σ over rows of dy xᵀ, where x may have been broadcast."""
    x = np.broadcast_to(x, (*dy.shape[:-1], x.shape[-1]))
    return dy.reshape(-1, dy.shape[-1]).T @ x.reshape(-1, x.shape[-1])
