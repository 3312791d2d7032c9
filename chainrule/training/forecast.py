"""The forecast printed before training starts: parameters, tokens, time and memory."""

from __future__ import annotations

from chainrule.training.budget import BudgetClock
from chainrule.training.learner import Learner
from chainrule.training.state import TrainingState

LONG = 0.5  # seconds; a step that takes longer is not repeated for a better measurement


def forecast(learner: Learner, state: TrainingState, clock: BudgetClock) -> str:
    """One sentence; the step changes neither weights nor random state, since each step has a seed of its own."""
    seconds = learner.timed_step(state)
    if seconds < LONG or learner.compiles:
        seconds = learner.timed_step(state)
    data, left = learner.data, max(0.0, 1 - clock.progress(state.step))
    if clock.steps is None:
        assert clock.seconds is not None
        steps = max(1, round(left * clock.seconds / seconds))
    else:
        steps = clock.steps - state.step
    tokens = steps * data.tokens_per_step
    duration = left * clock.seconds if clock.seconds is not None else steps * seconds
    return (f"{learner.size:,} parameters; {steps:,} step{'s' * (steps != 1)} of {data.tokens_per_step:,} tokens, "
            f"{tokens:,} in all ({tokens / data.tokens:.1f} times the text); about {readable_seconds(duration)} and "
            f"{max(1, learner.memory(state).total / 2**20):,.0f} MiB of memory on the {learner.place}.")


def readable_seconds(seconds: float) -> str:
    """`1 s`, `40 s`, `3 min`, `2.5 h`."""
    if seconds < 100:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
