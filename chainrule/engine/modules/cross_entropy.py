"""Cross-entropy of probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.registry import part


@part
class CrossEntropy(Module):
    r"""What probabilities say about targets, in nats, averaged over rows.

    y = −(1/R) Σ_r Σ_c t_rc ln p_rc,   dp = −dy t / (R p),   dt = −dy ln p / R

    A target is a class (an integer for each row) or soft: a distribution over the classes.
    """

    def forward(self, p: Array, target: Array) -> tuple[Array, tuple[Array, Array]]:
        if target.dtype.kind != "f":
            chosen = np.take_along_axis(p, target[..., None], -1)
            return -np.log(chosen).mean(), (p, target)
        return -(target * np.log(p)).sum() / rows(p), (p, target)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[Array, Callable[[], Array] | None]:
        p, target = memory
        share = -dy / rows(p)
        if target.dtype.kind == "f":
            return share * target / p, lambda: share * np.log(p)
        dp = np.zeros_like(p)
        at = target[..., None]
        np.put_along_axis(dp, at, share / np.take_along_axis(p, at, -1), -1)
        return dp, None

    @staticmethod
    def example(random: np.random.Generator) -> tuple[CrossEntropy, list[Array]]:
        p, target = random.dirichlet(np.full(5, 20.0), size=(2, 2, 3))
        return CrossEntropy(), [p, target]


def rows(x: Array) -> int:
    """How many vectors lie along the last axis."""
    return x.size // x.shape[-1]
