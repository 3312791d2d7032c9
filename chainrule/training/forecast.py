"""What training will take, said before it starts: parameters, tokens, time and memory, from one trial step."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.registry import build
from chainrule.training.budget import Spending
from chainrule.training.course import Course
from chainrule.training.journal import peak_memory
from chainrule.training.learner import Learner

LONG = 0.5  # seconds; a trial that takes longer is not repeated for a better measurement


def forecast(learner: Learner, course: Course, spending: Spending) -> str:
    """One sentence; the trial changes neither weights nor chance, since each step has a seed of its own."""
    seconds, activations = _trial(learner, course)
    if seconds < LONG or learner.compiled.fast is not learner.model:  # the first one compiled
        seconds, _ = _trial(learner, course)
    task, left = learner.task, max(0.0, 1 - spending.progress(course.step))
    if spending.steps is None:
        assert spending.seconds is not None
        steps = round(max(0.0, spending.seconds - spending.elapsed()) / seconds)
    else:
        steps = spending.steps - course.step
    tokens = steps * task.tokens_per_step
    parameters = list(learner.model.parameters())
    total = sum(p.numel() for p in parameters)
    duration = left * spending.seconds if spending.seconds is not None else steps * seconds
    return (f"{total:,} parameters; {steps:,} step{'s' * (steps != 1)} of {task.tokens_per_step:,} tokens, "
            f"{tokens:,} in all ({tokens / task.tokens:.1f} epochs of {task.tokens:,}); about "
            f"{spoken(duration)} and {_memory(learner, activations) / 2**20:,.0f} MB for training on "
            f"{learner.device.type}.")


def spoken(seconds: float) -> str:
    """`40 s`, `3 min`, `2.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _trial(learner: Learner, course: Course) -> tuple[float, int]:
    """Seconds of one step without its update, and the bytes that it keeps for the way back."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    batch = learner.task.batch(0, learner.device)
    began = time.perf_counter()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        learner.gradients(course, batch, learner.task.start(learner.model, learner.task.rows))
    if learner.device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    learner.optimizer.zero_grad(set_to_none=True)
    own = {p.untyped_storage().data_ptr() for p in learner.model.parameters()}
    return seconds, sum(size for place, size in kept.items() if place not in own) // course.accumulation


def _memory(learner: Learner, activations: int) -> float:
    """Bytes of weights, gradients, what the optimizer keeps, the average, and the activations of one piece."""
    copies = 2 + _moments(learner.plan.optimizer) + (learner.average is not None)
    size = sum(p.numel() * p.element_size() for p in learner.model.parameters())
    if learner.device.type == "cuda":
        return peak_memory(learner.device) + (copies - 2) * size
    return copies * size + activations


def _moments(choice: Any) -> int:
    """How many numbers an optimizer keeps for each weight: found by trying it on one small matrix."""
    weight = nn.Parameter(torch.zeros(2, 2))
    optimizer = build("training/optimizers", choice, [("weight", weight)])
    weight.grad = torch.zeros_like(weight)
    optimizer.step()
    kept = [value for part in getattr(optimizer, "parts", [optimizer]) for value in part.state[weight].values()]
    return sum(isinstance(value, Tensor) and value.ndim == 2 for value in kept)
