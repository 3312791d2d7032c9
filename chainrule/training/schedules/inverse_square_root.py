"""A learning rate that falls with the square root of time."""

import math
from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class InverseSquareRoot:
    """min(p / warmup, √(warmup / p))

    Vaswani et al. 2017, arXiv:1706.03762, eq. 3, with the peak at 1.
    """

    def __init__(self, *, warmup: float = 0.05):
        self.warmup = check_share("inverse_square_root.warmup", warmup)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        if progress <= self.warmup or not self.warmup:
            return warmed(progress, self.warmup)
        return math.sqrt(self.warmup / progress)
