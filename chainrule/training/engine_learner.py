"""Learning on the engine: in NumPy, without torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.engine import clip_norm
from chainrule.engine.clipping import norm
from chainrule.models.cost.engine import training_memory
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.models.engine_stack import EngineStack, exported, imported
from chainrule.recipe.registry import build
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.tasks.task import Batch, Task
from chainrule.threads import cores
from chainrule.training.averaging import ArrayAverage
from chainrule.training.course import Course
from chainrule.training.journal import peak_memory
from chainrule.training.learner import Learner, Outcome
from chainrule.training.plan import Plan

MODEL, MEMORY = "model.safetensors", "memory.safetensors"


class EngineLearner(Learner):
    """A stack of the engine, its optimizer, and the average of its weights."""

    def __init__(self, stack: EngineStack, task: Task, plan: Plan, say: Callable[[str], None]):
        super().__init__(stack.train(), task, plan, say)
        self.parameters = stack.parameters()
        self.optimizer = build("engine/optimizers", plan.optimizer, self.parameters)
        self.base = self.optimizer.rate
        self.average = ArrayAverage(self.parameters, plan.ema) if plan.ema else None

    def in_pieces(self, pieces: int, batch: Batch, before: Any) -> tuple[float, Any]:
        total, states = 0.0, []
        for begin, end in self.pieces(pieces, batch):
            loss, after = self.task.loss(self.model, batch.rows(begin, end), _rows(before, begin, end))
            (loss * (1 / batch.tokens)).backward()
            total += loss.item()
            states.append(after)
        return total, _joined(states)

    def clipped(self, loss: float, tokens: int) -> Outcome:
        size = norm(self.parameters) if self.plan.clip is None else clip_norm(self.parameters, self.plan.clip)
        return Outcome(loss / tokens, size)

    def apply(self, course: Course, factor: float) -> None:
        self.optimizer.rate = self.base * factor
        self.optimizer.step()
        if self.average:
            self.average.update(course.step)

    def forget(self) -> None:
        self.model.clear()

    def draw(self, step: int) -> None:
        self.model.draw(self.plan.seed, step)

    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        self.model.train(False)
        with self.average.used() if self.average else nullcontext():
            found = self.task.evaluate(self.model, None, rows)
            samples = self.task.samples(self.model) if writes else []
        self.model.train()
        return found, samples

    def save(self, folder: Path) -> None:
        save_tensors(folder / MODEL, exported(self.model))
        memory = {f"optimizer.{n}.{name}": array for n, kept in enumerate(self.optimizer.kept)
                  for name, array in zip(self.optimizer.keeps, kept, strict=True)}
        memory |= {f"carried.{layer}.{n}": array for layer, state in enumerate(self.state or ())
                   for n, array in enumerate(state or ())}
        memory |= {f"average.{n}": array for n, array in enumerate(self.average.arrays if self.average else ())}
        save_tensors(folder / MEMORY, {**memory, "steps": np.array([self.optimizer.steps], np.int64)})

    def restore(self, folder: Path) -> None:
        imported(self.model, open_tensors(folder / MODEL))
        memory = {name: np.array(array) for name, array in open_tensors(folder / MEMORY).items()}
        self.optimizer.steps = int(memory["steps"][0])
        for n, kept in enumerate(self.optimizer.kept):
            kept[:] = [memory[f"optimizer.{n}.{name}"] for name in self.optimizer.keeps]
        if self.average:
            self.average.arrays = _averaged(memory)
        if any(name.startswith("carried.") for name in memory):
            self.state = tuple(each and tuple(memory[f"carried.{layer}.{n}"] for n in range(len(each)))
                               for layer, each in enumerate(self.start()))

    def finish(self, best: Path | None) -> None:
        if best is not None:
            imported(self.model, open_tensors(best / MODEL))
        if self.average:
            arrays = self.average.arrays if best is None else _averaged(open_tensors(best / MEMORY))
            for parameter, array in zip(self.parameters, arrays, strict=True):
                parameter.value = np.array(array)
        self.model.train(False)

    @property
    def size(self) -> int:
        return sum(each.value.size for each in self.parameters)

    @property
    def rate(self) -> float:
        return self.optimizer.rate

    def machine(self) -> dict[str, Any]:
        return {"numpy": np.__version__, "cores": cores()}

    def flops_per_token(self) -> float:
        return self.model.flops_per_token(self.task.context)

    def memory(self, course: Course) -> TrainingMemory:
        return training_memory(self.model, self.rows_at_once(course), self.task.context,
                               kept=len(self.optimizer.keeps), average=self.average is not None)

    def peak_memory(self) -> int:
        return peak_memory()


def _rows(states: Any, begin: int, end: int) -> Any:
    """Some rows of the states of all sublayers."""
    return states and tuple(each and tuple(array[begin:end] for array in each) for each in states)


def _joined(pieces: Sequence[Any]) -> Any:
    """The reverse."""
    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    return tuple(each[0] and tuple(map(np.concatenate, zip(*each, strict=True))) for each in zip(*pieces, strict=True))


def _averaged(memory: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [memory[f"average.{n}"] for n in range(sum(name.startswith("average.") for name in memory))]
