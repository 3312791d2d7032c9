"""What training will take, said before it starts: parameters, tokens, time and memory."""

from __future__ import annotations

import time

import torch

from chainrule.models.cost.memory import TrainingMemory, training_memory
from chainrule.registry import build
from chainrule.tasks.cross_entropy import LOGITS
from chainrule.training.budget import Spending
from chainrule.training.course import Course
from chainrule.training.learner import DTYPES, Learner

LONG = 0.5  # seconds; a trial that takes longer is not repeated for a better measurement
DEVICES = {"cpu": "CPU", "cuda": "GPU"}


def forecast(learner: Learner, course: Course, spending: Spending) -> str:
    """One sentence; the trial changes neither weights nor chance, since each step has a seed of its own."""
    seconds = _trial(learner, course)
    if seconds < LONG or learner.compiled.fast is not learner.model:  # the first one compiled
        seconds = _trial(learner, course)
    task, left = learner.task, max(0.0, 1 - spending.progress(course.step))
    if spending.steps is None:
        assert spending.seconds is not None
        steps = max(1, round(left * spending.seconds / seconds))
    else:
        steps = spending.steps - course.step
    tokens = steps * task.tokens_per_step
    total = sum(p.numel() for p in learner.model.parameters())
    duration = left * spending.seconds if spending.seconds is not None else steps * seconds
    return (f"{total:,} parameters; {steps:,} step{'s' * (steps != 1)} of {task.tokens_per_step:,} tokens, {tokens:,} "
            f"in all ({tokens / task.tokens:.1f} times the text); about {spoken(duration)} and "
            f"{max(1, memory(learner, course).total / 2**20):,.0f} MiB of memory on the "
            f"{DEVICES.get(learner.device.type, learner.device.type)}.")


def spoken(seconds: float) -> str:
    """`1 s`, `40 s`, `3 min`, `2.5 h`."""
    if seconds < 100:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def memory(learner: Learner, course: Course) -> TrainingMemory:
    """As `chainrule cost` reckons it, for the pieces that a batch is taken in."""
    plan, model, task = learner.plan, learner.model, learner.task
    pieces = -(-task.rows // course.accumulation), task.context
    return training_memory(model.shape, len(model.embedding.weight), pieces,
                           optimizer=lambda named: build("training/optimizers", plan.optimizer, named),
                           logits=LOGITS.get(learner.device.type, LOGITS["cpu"]), precision=DTYPES[plan.precision],
                           average=learner.average is not None)


def _trial(learner: Learner, course: Course) -> float:
    """Seconds of one step without its update."""
    batch = learner.task.batch(0, learner.device)
    began = time.perf_counter()
    learner.gradients(course, batch, learner.task.start(learner.model, learner.task.rows))
    if learner.device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    learner.optimizer.zero_grad(set_to_none=True)
    return seconds
