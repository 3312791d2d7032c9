"""What training will take, said before it starts: parameters, tokens, time and memory."""

from __future__ import annotations

from chainrule.training.budget import Spending
from chainrule.training.course import Course
from chainrule.training.learner import Learner

LONG = 0.5  # seconds; a trial that takes longer is not repeated for a better measurement


def forecast(learner: Learner, course: Course, spending: Spending) -> str:
    """One sentence; the trial changes neither weights nor chance, since each step has a seed of its own."""
    seconds = learner.trial(course)
    if seconds < LONG or learner.compiles:
        seconds = learner.trial(course)
    task, left = learner.task, max(0.0, 1 - spending.progress(course.step))
    if spending.steps is None:
        assert spending.seconds is not None
        steps = max(1, round(left * spending.seconds / seconds))
    else:
        steps = spending.steps - course.step
    tokens = steps * task.tokens_per_step
    duration = left * spending.seconds if spending.seconds is not None else steps * seconds
    return (f"{learner.size:,} parameters; {steps:,} step{'s' * (steps != 1)} of {task.tokens_per_step:,} tokens, "
            f"{tokens:,} in all ({tokens / task.tokens:.1f} times the text); about {spoken(duration)} and "
            f"{max(1, learner.memory(course).total / 2**20):,.0f} MiB of memory on the {learner.place}.")


def spoken(seconds: float) -> str:
    """`1 s`, `40 s`, `3 min`, `2.5 h`."""
    if seconds < 100:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
