"""Cross-entropy of probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array
from chainrule.errors import UsageError
from chainrule.recipe.registry import part


@part
class CrossEntropy(Module):
    r"""What probabilities say about targets, in nats, averaged over rows.

    y = −(1/R) Σ_r Σ_c t_rc ln p_rc,   dp = −dy t / (R p),   dt = −dy ln p / R

    A target is a class (an integer for each row) or soft: a distribution over the classes. Where t and p are both 0
    nothing is lost, 0 ln 0 = 0, and dp and dt are 0: the limit for small t, as `torch.xlogy` has it.
    """

    def forward(self, p: Array, target: Array) -> tuple[Array, tuple[Array, Array]]:
        check("cross_entropy", p, target)
        if target.dtype.kind != "f":
            chosen = np.take_along_axis(p, target[..., None], -1)
            return -np.log(chosen).mean(), (p, target)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = (target * np.log(p)).sum()
            if total != total:  # 0 ln 0, which NumPy calls no number: with a p of 1, t/p and ln p are 0
                p = np.where((target == 0) & (p == 0), 1, p)
                total = (target * np.log(p)).sum()
        return -total / rows(p), (p, target)

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


def check(name: str, x: Array, target: Array) -> None:
    """Without this check NumPy would count a negative class from the end, and broadcast a wrong shape."""
    soft = target.dtype.kind == "f"
    if target.dtype.kind == "b" or target.shape != (x.shape if soft else x.shape[:-1]):
        raise UsageError(f"{name} was given shape {x.shape} with targets of type {target.dtype} and shape "
                         f"{target.shape}, expected classes of shape {x.shape[:-1]} or distributions of {x.shape}.")
    if not soft and target.size and not (target.min() >= 0 and target.max() < x.shape[-1]):
        raise UsageError(f"{name} was given classes from {target.min()} to {target.max()}, expected 0 to "
                         f"{x.shape[-1] - 1}.")


def rows(x: Array) -> int:
    """How many vectors lie along the last axis."""
    return x.size // x.shape[-1]
