"""A learning rate that stays, and then falls by the same factor in every epoch."""

from collections.abc import Sequence

from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class Geometric:
    """1 until `stay` of the budget, then final^((p − stay) / (1 − stay))

    Zaremba et al. 2014, arXiv:1409.2329, §4.1, without its stairs: 6 of 39 epochs at 1, then divided by 1.2 in each
    epoch, is stay = 6/39 and final = 1.2⁻³³.
    """

    def __init__(self, *, stay: float = 0.2, final: float = 0.01, warmup: float = 0.0):
        self.stay, self.final = check_share("geometric.stay", stay), check_share("geometric.final", final)
        self.warmup = check_share("geometric.warmup", warmup)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        if progress <= self.stay:
            return warmed(progress, self.warmup)
        return self.final ** min(1.0, (progress - self.stay) / (1 - self.stay))
