"""What every schedule is: a factor on the learning rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chainrule.errors import OptionError


class Schedule(Protocol):
    """Multiplies the learning rate; `progress` is the share of the budget that is spent, 0 to 1.

    `losses` are those of the evaluations so far, for schedules that look at them.
    """

    def __call__(self, progress: float, losses: Sequence[float]) -> float: ...


def warmed(progress: float, warmup: float) -> float:
    """progress / warmup, at most 1."""
    return min(1.0, progress / warmup) if warmup else 1.0


def check_share(where: str, value: float) -> float:
    """A share of the budget or of the learning rate."""
    if not 0 <= value <= 1:
        raise OptionError(where, value, "a share, from 0 to 1")
    return value
