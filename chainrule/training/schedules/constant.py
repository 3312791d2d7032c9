"""A constant learning rate, after a warmup if wanted."""

from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class Constant:
    """min(1, p / warmup)"""

    def __init__(self, *, warmup: float = 0.0):
        self.warmup = check_share("constant.warmup", warmup)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        return warmed(progress, self.warmup)
