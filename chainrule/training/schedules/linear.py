"""A learning rate that falls in a straight line."""

from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class Linear:
    """p / warmup, then 1 − (1 − final) · (p − warmup) / (1 − warmup)"""

    def __init__(self, *, warmup: float = 0.02, final: float = 0.0):
        self.warmup, self.final = check_share("linear.warmup", warmup), check_share("linear.final", final)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        if progress < self.warmup:
            return warmed(progress, self.warmup)
        fallen = (progress - self.warmup) / max(1 - self.warmup, 1e-12)
        return 1 - (1 - self.final) * min(1.0, fallen)
