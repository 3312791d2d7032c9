"""Training on the engine: in NumPy, without torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from chainrule.engine import clip_norm, untaped
from chainrule.engine.clipping import norm
from chainrule.models.cost.engine import training_memory
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.models.engine_parts.mixers import joined
from chainrule.models.engine_stack import EngineStack, EngineState, exported, imported
from chainrule.recipe.registry import build
from chainrule.storage.environment import peak_memory
from chainrule.threads import cores
from chainrule.training.averaging import ArrayAverage
from chainrule.training.checkpoints import MEMORY, MODEL, Files, Read
from chainrule.training.learner import Learner, Outcome
from chainrule.training.state import TrainingState


class EngineLearner(Learner):
    """A stack of the engine, its optimizer, and the average of its weights."""

    def __init__(self, network: EngineStack, task: Any, data: Any, plan: Any, callbacks: Any):
        super().__init__(network.train(), task, data, plan, callbacks)
        self.parameters = network.parameters()
        self.optimizer = build("engine/optimizers", plan.optimizer, self.parameters)
        self.base = self.optimizer.rate
        self.average = ArrayAverage(self.parameters, plan.ema) if plan.ema else None

    def gradients(self, batch: Any, before: Any, accumulation: int) -> tuple[float, Any]:
        total, after = 0.0, []
        for begin, end in self.until_stopped(self.slices(len(batch), accumulation)):
            micro = batch.rows(begin, end).sent(np.asarray, _rows(before, begin, end))
            loss, _, own = self.task.loss(self.network, micro, smoothing=self.plan.label_smoothing)
            (loss * (1 / batch.count)).backward()
            total += loss.item()
            after.append(own)
        return total, None if before is None else _joined(after)

    def clipped(self, loss: float, count: int) -> Outcome:
        size = norm(self.parameters) if self.plan.clip is None else clip_norm(self.parameters, self.plan.clip)
        return Outcome(loss / count, size)

    def update(self, state: TrainingState, factor: float) -> None:
        self.optimizer.rate = self.base * factor
        self.optimizer.step()
        if self.average:
            self.average.update(state)

    def zero_grad(self) -> None:
        self.network.clear()

    def seed(self, step: int) -> None:
        self.network.draw(self.plan.seed, step)

    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        self.network.train(False)
        with self.average.used() if self.average else nullcontext():
            with untaped():
                found = self.task.validate(self.network, self._validation(rows))
            samples = self.task.samples(self.network, self.data.known) if writes and self.data.known else []
        self.network.train()
        return found, samples

    def _validation(self, rows: int) -> Iterator[Any]:
        for batch in self.data.validation(rows):
            fresh = batch.fresh and self.data.carries
            yield batch.sent(np.asarray, self.network.start(len(batch)) if fresh else None)

    def finite(self) -> bool:
        return all(bool(np.isfinite(array).all()) for array in exported(self.network).values())

    def checkpoint(self) -> Files:
        memory = {f"optimizer.{n}.{name}": array for n, kept in enumerate(self.optimizer.kept)
                  for name, array in zip(self.optimizer.keeps, kept, strict=True)}
        if self.state is not None:
            memory |= {f"carried.{layer}.{n}": array for layer, state in enumerate(self.state.sublayers)
                       for n, array in enumerate(state or ())}
            memory["carried.lengths"] = self.state.lengths
        memory |= {f"average.{n}": array for n, array in enumerate(self.average.arrays if self.average else ())}
        return {MODEL: exported(self.network),
                MEMORY: {**memory, "steps": np.array([self.optimizer.steps], np.int64)}}

    def restore(self, read: Read) -> None:
        imported(self.network, read(MODEL))
        memory = read(MEMORY)
        self.optimizer.steps = int(memory["steps"][0])
        for n, kept in enumerate(self.optimizer.kept):
            kept[:] = [memory[f"optimizer.{n}.{name}"] for name in self.optimizer.keeps]
        if self.average:
            self.average.arrays = _averaged(memory)
        if "carried.lengths" in memory:
            self.state = EngineState(tuple(each and tuple(memory[f"carried.{layer}.{n}"] for n in range(len(each)))
                                           for layer, each in enumerate(self.start().sublayers)),
                                     memory["carried.lengths"])

    def finish(self, best: Read | None) -> None:
        if best is not None:
            imported(self.network, best(MODEL))
        if self.average:
            arrays = self.average.arrays if best is None else _averaged(best(MEMORY))
            for parameter, array in zip(self.parameters, arrays, strict=True):
                parameter.value = np.array(array)
        self.network.train(False)

    @property
    def size(self) -> int:
        return sum(each.value.size for each in self.parameters)

    @property
    def rate(self) -> float:
        return self.optimizer.rate

    def machine(self) -> dict[str, Any]:
        return {"numpy": np.__version__, "cores": cores()}

    def flops_per_token(self) -> float:
        return self.network.flops_per_token(self.data.context)

    def memory(self, state: TrainingState) -> TrainingMemory:
        return training_memory(self.network, self.micro_batch_rows(state), self.data.context,
                               kept=len(self.optimizer.keeps), average=self.average is not None)

    def peak_memory(self) -> int:
        return peak_memory()


def _rows(state: EngineState | None, begin: int, end: int) -> EngineState | None:
    """Some rows of the states of all sublayers."""
    if state is None:
        return None
    return EngineState(tuple(each and tuple(array[begin:end] for array in each) for each in state.sublayers),
                       state.lengths[begin:end])


def _joined(pieces: list[EngineState]) -> EngineState:
    """The reverse."""
    return EngineState(tuple(map(joined, zip(*(each.sublayers for each in pieces), strict=True))),
                       np.concatenate([each.lengths for each in pieces]))


def _averaged(memory: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [memory[f"average.{n}"] for n in range(sum(name.startswith("average.") for name in memory))]
