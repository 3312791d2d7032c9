"""Softmax and cross-entropy in one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules.cross_entropy import rows
from chainrule.engine.tensor import Array
from chainrule.registry import part


@part
class SoftmaxCrossEntropy(Module):
    r"""What scores say about targets after a softmax, in nats, averaged over rows.

    y = (1/R) Σ_r (ln Σ_c e^{x_rc} Σ_c t_rc − Σ_c t_rc x_rc),   dx = dy (p Σ_c t_c − t) / R,   p = softmax x

    A target is a class (an integer for each row) or soft: a distribution over the classes. Fused, because the
    quotient t/p of the two backward passes cancels: no p can be too small.
    """

    def forward(self, x: Array, target: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        shifted = x - x.max(axis=-1, keepdims=True)
        if target.dtype.kind == "f":
            right = (target * shifted).sum(axis=-1, keepdims=True)
        else:
            right = np.take_along_axis(shifted, target[..., None], -1)
        p = np.exp(shifted)
        total = p.sum(axis=-1, keepdims=True)
        p /= total
        log_total = np.log(total)
        if target.dtype.kind == "f":
            log_total_t = log_total * target.sum(axis=-1, keepdims=True)
            return (log_total_t - right).mean(), (p, target, shifted - log_total)
        return (log_total - right).mean(), (p, target, log_total)

    def backward(self, dy: Array, memory: tuple[Array, Array, Array]) -> tuple[Array, Callable[[], Array] | None]:
        p, target, log_p = memory
        share = dy / rows(p)
        if target.dtype.kind == "f":
            return share * (p * target.sum(axis=-1, keepdims=True) - target), lambda: -share * log_p
        dx = p * share
        at = target[..., None]
        np.put_along_axis(dx, at, np.take_along_axis(dx, at, -1) - share, -1)
        return dx, None

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SoftmaxCrossEntropy, list[Array]]:
        return SoftmaxCrossEntropy(), [random.normal(size=(2, 3, 5)), random.dirichlet(np.ones(5), size=(2, 3))]
