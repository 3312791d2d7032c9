"""One step of training on the engine, and all that the next step depends on, as files."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.engine import clip_norm
from chainrule.engine.clipping import norm
from chainrule.errors import ChainruleError
from chainrule.models.engine_stack import EngineStack, exported, imported
from chainrule.registry import build
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.tasks.engine_language import EngineLanguage
from chainrule.training.course import Course
from chainrule.training.plan import Plan

IN_A_ROW = 3  # steps that are not finite, then training stops
MODEL, MEMORY = "model.safetensors", "memory.safetensors"


class EngineLearner:
    """A stack with all that changes it: optimizer, schedule, and the state that is carried from step to step."""

    def __init__(self, stack: EngineStack, task: EngineLanguage, plan: Plan, say: Callable[[str], None]):
        self.stack, self.task, self.plan, self.say = stack, task, plan, say
        self.optimizer = build("engine/optimizers", plan.optimizer, stack.parameters())
        self.schedule = build("training/schedules", plan.schedule)
        self.base = self.optimizer.rate
        self.states: Any = None

    def step(self, course: Course, progress: float) -> float:
        """The gradient of one batch, clipped, and the weights after it; one that is not finite changes nothing."""
        self.stack.draw(self.plan.seed, course.step)
        self.stack.clear()
        loss, after = self.task.loss(self.stack, course.step, self.states)
        loss.backward()
        parameters = self.optimizer.parameters
        size = norm(parameters) if self.plan.clip is None else clip_norm(parameters, self.plan.clip)
        course.step, course.tokens, course.norm = course.step + 1, course.tokens + self.task.tokens_per_step, size
        if math.isfinite(loss.item()) and math.isfinite(size):
            self.optimizer.rate = self.base * self.schedule(progress, course.losses)
            self.optimizer.step()
            self.states, course.skipped_in_a_row = after, 0
            course.loss_sum, course.loss_steps = course.loss_sum + loss.item(), course.loss_steps + 1
        else:
            self._skip(course)
        return loss.item()

    def _skip(self, course: Course) -> None:
        course.skipped, course.skipped_in_a_row = course.skipped + 1, course.skipped_in_a_row + 1
        self.say(f"step {course.step:,}: the loss or gradient is not finite; the step is skipped, the weights stay.")
        if course.skipped_in_a_row >= IN_A_ROW:
            raise ChainruleError(f"the loss or gradient was not finite in {IN_A_ROW} steps in a row, up to step "
                                 f"{course.step:,}. Try a lower training.optimizer.rate, or training.clip=1.0.")

    def save(self, folder: Path) -> None:
        """Everything that the next step depends on, but the course."""
        save_tensors(folder / MODEL, exported(self.stack))
        memory = {f"optimizer.{n}.{name}": array for n, kept in enumerate(self.optimizer.kept)
                  for name, array in zip(self.optimizer.keeps, kept, strict=True)}
        memory |= {f"carried.{layer}.{n}": array for layer, state in enumerate(self.states or ())
                   for n, array in enumerate(state or ())}
        save_tensors(folder / MEMORY, {**memory, "steps": np.array([self.optimizer.steps], np.int64)})

    def restore(self, folder: Path) -> None:
        """The reverse."""
        imported(self.stack, open_tensors(folder / MODEL))
        memory = {name: np.array(array) for name, array in open_tensors(folder / MEMORY).items()}
        self.optimizer.steps = int(memory["steps"][0])
        for n, kept in enumerate(self.optimizer.kept):
            kept[:] = [memory[f"optimizer.{n}.{name}"] for name in self.optimizer.keeps]
        if any(name.startswith("carried.") for name in memory):
            self.states = self._carried(memory)

    def _carried(self, memory: dict[str, np.ndarray]) -> Any:
        empty = self.stack.start(self.task.rows)
        return tuple(None if state is None else tuple(memory[f"carried.{layer}.{n}"] for n in range(len(state)))
                     for layer, state in enumerate(empty))
