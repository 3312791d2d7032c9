"""Softmax and cross-entropy in one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.modules.cross_entropy import check, rows
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class SoftmaxCrossEntropy(Module):
    r"""What scores say about targets after a softmax, in nats, averaged over rows.

    y = −(1/R) Σ_r Σ_c t_rc ln p_rc,   p = softmax x,   dx = dy (p Σ_c t_c − t) / R,   dt = −dy ln p / R

    A target is a class (an integer for each row) or soft: a distribution over the classes. Fused, because the
    quotient t/p of the two backward passes cancels: no p can be too small. A score may be −∞ where the target is 0:
    such a class costs nothing and has no gradient.
    """

    def forward(self, x: Array, target: Array) -> tuple[Array, tuple[Array, ...]]:
        check("softmax_cross_entropy", x, target)
        p = x - x.max(axis=-1, keepdims=True)
        if target.dtype.kind == "f":
            return self._soft(p, target)
        right = np.take_along_axis(p, target[..., None], -1)
        np.exp(p, out=p)
        total = p.sum(axis=-1, keepdims=True)
        return (np.log(total) - right).mean(), (p, total, target)

    def backward(self, dy: Array, memory: tuple[Array, ...]) -> tuple[Array, Callable[[], Array] | None]:
        p, total, target, *log_p = memory
        share = dy / rows(p)
        if log_p:
            return p * (share * target.sum(axis=-1, keepdims=True) / total) - share * target, lambda: -share * log_p[0]
        dx = p * (share / total)
        at = target[..., None]
        np.put_along_axis(dx, at, np.take_along_axis(dx, at, -1) - share, -1)
        return dx, None

    def _soft(self, shifted: Array, target: Array) -> tuple[Array, tuple[Array, ...]]:
        """p is kept without its quotient: total has that."""
        p = np.exp(shifted)
        total = p.sum(axis=-1, keepdims=True)
        log_p = shifted - np.log(total)
        with np.errstate(invalid="ignore"):
            loss = (target * log_p).sum()
            if loss != loss:  # 0 ln 0, which NumPy calls no number
                log_p = np.where((target == 0) & (log_p == -np.inf), 0, log_p)
                loss = (target * log_p).sum()
        return -loss / rows(p), (p, total, target, log_p)

    @staticmethod
    def example(random: np.random.Generator) -> tuple[SoftmaxCrossEntropy, list[Array]]:
        return SoftmaxCrossEntropy(), [random.normal(size=(2, 3, 5)), random.dirichlet(np.ones(5), size=(2, 3))]
