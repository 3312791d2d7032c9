"""How much of a budget is spent: the one number that schedules, evaluations and the end depend on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chainrule.tasks.task import Task
from chainrule.training.course import Course
from chainrule.training.flops import training_flops_per_token
from chainrule.training.plan import Budget


@dataclass(frozen=True)
class Clock:
    """Seconds of earlier sessions: in all, and those in which steps were made."""

    seconds: float = 0.0
    stepping: float = 0.0


class Spending:
    """Progress from 0 to 1. Steps, epochs, tokens and FLOPs become a number of steps; seconds are measured."""

    def __init__(self, budget: Budget, task: Task, model: Any, clock: Clock):
        self.flops_per_token = training_flops_per_token(model, task.context)
        self.steps, self.seconds = _steps(budget, task, self.flops_per_token), budget.seconds
        self.stepping = clock.stepping
        self._began = time.monotonic() - clock.seconds

    def elapsed(self) -> float:
        """Seconds so far, those before an interruption included."""
        return time.monotonic() - self._began

    @contextmanager
    def a_step(self) -> Iterator[None]:
        """Counts the seconds of a step as such."""
        began = time.monotonic()
        yield
        self.stepping += time.monotonic() - began

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
        return min(1.0, (self.elapsed() + self.stepping / max(1, course.step) / 2) / self.seconds)

    def left(self, course: Course) -> float | None:
        """Seconds until the end, once a step is done."""
        if self.seconds is not None:
            return max(0.0, self.seconds - self.elapsed())
        return None if not course.step else self.elapsed() / course.step * ((self.steps or 0) - course.step)


def _steps(budget: Budget, task: Task, flops_per_token: float) -> int | None:
    if budget.steps is not None:
        return budget.steps
    if budget.epochs is not None:
        return max(1, math.ceil(budget.epochs * task.steps_per_epoch - 1e-9))
    tokens = budget.tokens if budget.flops is None else budget.flops / flops_per_token
    return None if tokens is None else max(1, round(tokens / task.tokens_per_step))  # the nearest
