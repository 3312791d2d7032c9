"""Weights of attention: a softmax over what may be seen, forward and backward."""

from __future__ import annotations

import numpy as np

from chainrule.engine.tensor import Array
from chainrule.errors import UsageError


def weights(score: Array, mask: Array | None = None) -> Array:
    """softmax over the last axis, in the place of the scores. A mask is True where a key is seen, or added.

    A query that sees no key at all gets weights of 0.
    """
    if mask is not None:
        if mask.dtype.kind in "iu":
            raise UsageError("attention was given a mask of whole numbers, expected booleans (True where a key is "
                             "seen) or floats, which are added to the scores. Try mask.astype(bool).")
        if mask.dtype.kind == "b":
            np.copyto(score, -np.inf, where=~np.broadcast_to(mask, score.shape))
        else:
            score += mask
    top = score.max(axis=-1, keepdims=True)
    if mask is not None:
        top[top == -np.inf] = 0
    score -= top
    np.exp(score, out=score)
    total = score.sum(axis=-1, keepdims=True)
    if mask is not None:
        total[total == 0] = 1
    score /= total
    return score


def score_gradient(weight: Array, d_weight: Array) -> Array:
    """w ⊙ (dw − Σ_k dw w), in the place of dw."""
    d_weight -= np.einsum("...k,...k->...", d_weight, weight)[..., None]
    d_weight *= weight
    return d_weight


def causal(queries: int, keys: int) -> Array:
    """(Q, K), True where a key is not behind its query; the queries are at the last places of the keys."""
    return np.tri(queries, keys, keys - queries, dtype=bool)


def check(name: str, q: Array, k: Array, v: Array) -> None:
    if q.ndim < 2 or k.ndim < 2 or v.ndim < 2 or k.shape[-2] != v.shape[-2]:
        raise UsageError(f"{name} was given shapes {q.shape}, {k.shape} and {v.shape}, expected queries (…, Q, E), "
                         "keys (…, K, E) and values (…, K, F).")
