"""A learning rate that falls along half a cosine."""

import math
from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class Cosine:
    """p / warmup, then final + (1 − final) · (1 + cos π (p − warmup) / (1 − warmup)) / 2

    Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5, without restarts.
    """

    def __init__(self, *, warmup: float = 0.02, final: float = 0.1):
        self.warmup, self.final = check_share("cosine.warmup", warmup), check_share("cosine.final", final)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        if progress < self.warmup:
            return warmed(progress, self.warmup)
        fallen = min(1.0, (progress - self.warmup) / max(1 - self.warmup, 1e-12))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * fallen)) / 2
