"""A learning rate that rises, stays, and falls at the end."""

from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class WarmupStableDecay:
    """p / warmup, then 1, then 1 − (1 − final) · (p − (1 − decay)) / decay in the last `decay` of the budget.

    Hu et al. 2024, arXiv:2404.06395, §4, with a straight line at the end.
    """

    def __init__(self, *, warmup: float = 0.02, decay: float = 0.2, final: float = 0.0):
        self.warmup, self.decay = (check_share(f"warmup_stable_decay.{name}", value)
                                   for name, value in (("warmup", warmup), ("decay", decay)))
        self.final = check_share("warmup_stable_decay.final", final)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        if not self.decay or progress <= 1 - self.decay:
            return warmed(progress, self.warmup)
        return 1 - (1 - self.final) * min(1.0, (progress - 1 + self.decay) / self.decay)
