"""How much of a budget is spent: the one number that schedules, evaluations and the end of training depend on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chainrule.training.plan import Budget
from chainrule.training.state import TrainingState

if TYPE_CHECKING:
    from chainrule.task_protocols import TrainingData

LOOKING = 0.1  # the share of a budget in seconds that evaluations may take, where the plan does not say how often


@dataclass(frozen=True)
class Elapsed:
    """Seconds of earlier sessions: in all, those of steps and of evaluations, and of the longest evaluation."""

    seconds: float = 0.0
    stepping: float = 0.0
    evaluating: float = 0.0
    longest: float = 0.0


class BudgetClock:
    """Progress from 0 to 1. Steps, epochs, tokens and FLOPs become a number of steps; seconds are measured.

    The clock runs from the first step to the last one, over the evaluations and checkpoints between them; what is
    prepared before, and the evaluation after the last step, are not training.
    """

    def __init__(self, budget: Budget, data: TrainingData, flops_per_token: float, before: Elapsed):
        self.data, self.flops_per_token = data, flops_per_token
        self.steps, self.seconds = _steps(budget, data, flops_per_token), budget.seconds
        self.stepping, self.evaluating, self.longest = before.stepping, before.evaluating, before.longest
        self._before = before.seconds
        self._since: float | None = None  # while the clock runs

    def run(self) -> None:
        """Training begins, or continues."""
        self._since = time.monotonic()

    def halt(self) -> None:
        """What follows is not training."""
        self._before, self._since = self.elapsed(), None

    def elapsed(self) -> float:
        """Seconds so far, those before an interruption included."""
        return self._before + (0.0 if self._since is None else time.monotonic() - self._since)

    def so_far(self) -> Elapsed:
        """For the next session."""
        return Elapsed(self.elapsed(), self.stepping, self.evaluating, self.longest)

    @contextmanager
    def a_step(self) -> Iterator[None]:
        """Counts the seconds of a step as such."""
        began = time.monotonic()
        yield
        self.stepping += time.monotonic() - began

    @contextmanager
    def an_evaluation(self) -> Iterator[None]:
        """The same for an evaluation."""
        began = time.monotonic()
        yield
        taken = time.monotonic() - began
        self.evaluating, self.longest = self.evaluating + taken, max(self.longest, taken)

    def progress(self, step: int) -> float:
        """The share that is spent after so many steps."""
        if self.steps is not None:
            return step / self.steps
        assert self.seconds is not None
        return self.elapsed() / self.seconds

    def spent(self, state: TrainingState) -> bool:
        """Whether training ends here; with a budget in seconds, if it would end before the middle of the next step."""
        if self.steps is not None:
            return state.step >= self.steps
        return state.step > 0 and self.middle(state) >= 1

    def middle(self, state: TrainingState) -> float:
        """The share spent at the middle of the next step: at the ends of a schedule the learning rate may be 0."""
        if self.steps is not None:
            return (state.step + 0.5) / self.steps
        assert self.seconds is not None
        return min(1.0, (self.elapsed() + self.stepping / max(1, state.step) / 2) / self.seconds)

    def affords(self, state: TrainingState) -> bool:
        """Whether there is time for an evaluation: a token without backward pass takes a third of its training time."""
        if self.seconds is None:
            return True
        expected = self.longest or self.data.evaluation_tokens / 3 * self.stepping / max(1, state.tokens)
        return (self.evaluating + expected <= LOOKING * self.elapsed()
                and self.elapsed() + expected < self.seconds)

    def left(self, state: TrainingState) -> float | None:
        """Seconds until the end, once a step is done."""
        if self.seconds is not None:
            return max(0.0, self.seconds - self.elapsed())
        return None if not state.step else self.elapsed() / state.step * ((self.steps or 0) - state.step)


def _steps(budget: Budget, data: TrainingData, flops_per_token: float) -> int | None:
    if budget.steps is not None:
        return budget.steps
    if budget.epochs is not None:
        return max(1, math.ceil(budget.epochs * data.steps_per_epoch - 1e-9))
    tokens = budget.tokens if budget.flops is None else budget.flops / flops_per_token
    return None if tokens is None else max(1, round(tokens / data.tokens_per_step))  # the nearest
