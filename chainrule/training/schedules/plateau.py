"""A learning rate that falls when the validation loss no longer does."""

from collections.abc import Sequence

from chainrule.errors import OptionError
from chainrule.recipe.registry import part
from chainrule.training.schedules._schedule import check_share, warmed


@part
class Plateau:
    """factorⁿ, n the number of times that `patience` evaluations in a row were not better than the best before them.

    A function of the whole history, so that resuming needs no other memory.
    """

    def __init__(self, *, factor: float = 0.5, patience: int = 1, warmup: float = 0.0):
        if patience < 1:
            raise OptionError("plateau.patience", patience, "at least 1 evaluation")
        self.factor, self.patience = check_share("plateau.factor", factor), patience
        self.warmup = check_share("plateau.warmup", warmup)

    def __call__(self, progress: float, losses: Sequence[float]) -> float:
        best, worse, falls = float("inf"), 0, 0
        for loss in losses:
            best, worse = (loss, 0) if loss < best else (best, worse + 1)
            if worse == self.patience:
                falls, worse = falls + 1, 0
        return warmed(progress, self.warmup) * self.factor**falls
