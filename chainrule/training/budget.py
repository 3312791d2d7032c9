"""How much of a budget is spent: the one number that schedules, evaluations and the end depend on."""

from __future__ import annotations

import math
import time
from typing import Any

from chainrule.training.course import Course
from chainrule.training.plan import Budget


class Spending:
    """Progress from 0 to 1. Steps, epochs, tokens and FLOPs become a number of steps; seconds are measured."""

    def __init__(self, budget: Budget, task: Any, flops_per_token: float, seconds: float):
        self.steps, self.seconds = _steps(budget, task, flops_per_token), budget.seconds
        self._began = time.monotonic() - seconds  # those of earlier sessions

    def elapsed(self) -> float:
        """Seconds so far, those before an interruption included."""
        return time.monotonic() - self._began

    def progress(self, step: int) -> float:
        """The share that is spent after so many steps."""
        if self.steps is not None:
            return step / self.steps
        assert self.seconds is not None
        return self.elapsed() / self.seconds

    def middle(self, course: Course) -> float:
        """The share at the middle of the next step: at neither end of a schedule a step is wasted."""
        if self.steps is not None:
            return (course.step + 0.5) / self.steps
        assert self.seconds is not None
        elapsed = self.elapsed()
        return min(1.0, (elapsed + elapsed / max(1, course.step) / 2) / self.seconds)

    def left(self, course: Course) -> float | None:
        """Seconds until the end, once a step is done."""
        if self.seconds is not None:
            return max(0.0, self.seconds - self.elapsed())
        return None if not course.step else self.elapsed() / course.step * ((self.steps or 0) - course.step)


def _steps(budget: Budget, task: Any, flops_per_token: float) -> int | None:
    if budget.steps is not None:
        return budget.steps
    if budget.epochs is not None:
        return max(1, math.ceil(budget.epochs * task.steps_per_epoch - 1e-9))
    tokens = budget.tokens if budget.tokens is not None else None
    if budget.flops is not None:
        tokens = budget.flops / flops_per_token
    return None if tokens is None else max(1, math.ceil(tokens / task.tokens_per_step))
