"""What the loop needs from a learner, and one step: gradients of micro-batches, clipping, update, error handling."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.recipe.registry import build
from chainrule.storage import environment
from chainrule.task_protocols import LearnedTask, TrainingData
from chainrule.training.callbacks import Callbacks
from chainrule.training.checkpoints import Files, Read
from chainrule.training.group import Group
from chainrule.training.plan import Plan
from chainrule.training.state import TrainingState

SHARE = 0.5  # share of the machine's memory that training may use
NOT_ONE_ROW = "out of memory with micro-batches of one row."
IN_A_ROW = 3  # steps that are not finite, then training stops


@dataclass(frozen=True)
class Outcome:
    """The result of a step: the mean loss and the norm of the gradient."""

    loss: float
    norm: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class StepAbandoned(Exception):
    """A signal came between two micro-batches: weights and state are those after the step before."""


class Learner(ABC):
    """A network with its optimizer, schedule, average, and the recurrent state carried from step to step.

    The two subclasses compute in torch or in the engine; all else about training is written once, here.
    """

    place = "CPU"  # where it computes
    stability_hint = ("Try a lower training.optimizer.rate, a longer warmup (training.schedule.warmup), or "
                      "training.clip=1.0")
    memory_hint = "Try a smaller model.width or model.context"
    dropout_option = "model.dropout.rate"
    compiles = False  # whether the first step takes longer than the others

    def __init__(self, network: Any, task: LearnedTask, data: TrainingData, plan: Plan, callbacks: Callbacks,
                 group: Group | None = None):
        self.network, self.task, self.data, self.plan = network, task, data, plan
        self.say, self.group = callbacks.say, group or Group()
        self.schedule = build("training/schedules", plan.schedule)
        self.state: Any = None  # of the network, where it is carried on
        self.should_stop: Callable[[], bool] = lambda: False  # asked between two micro-batches

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is looked at below, and before it is saved
    def step(self, state: TrainingState, progress: float) -> Outcome:
        """One training step; a gradient that is not finite changes nothing.

        If memory runs out, the step is repeated with twice as many micro-batches.
        """
        batch = self.data.batch(state.step)
        before = self.start() if batch.fresh else self.state
        while True:
            self.seed(state.step)
            try:
                loss, after = self.gradients(batch, before, state.accumulation)
                lacking = None
            except (MemoryError, RuntimeError) as error:  # torch's out-of-memory errors are RuntimeErrors
                if not self.recovers(error):
                    raise
                lacking = self.lacks_memory(error)
            if not self.group.maximum(lacking is not None):
                break
            self.free()  # after the except block, which holds on to all its tensors
            if self.group.maximum(bool(lacking)):
                self.smaller_micro_batches(state, len(batch))
        outcome = self.clipped(loss, batch.count)
        state.step, state.tokens, state.norm = state.step + 1, state.tokens + batch.tokens, outcome.norm
        if outcome.finite:
            self.update(state, self.schedule(progress, state.losses) * batch.pace)
            self.state = after
            state.skipped_in_a_row = 0
            state.loss_sum, state.loss_steps = state.loss_sum + outcome.loss, state.loss_steps + 1
        else:
            self.state = before
            self.skip(state, outcome)
        self.zero_grad()
        return outcome

    def smaller_micro_batches(self, state: TrainingState, rows: int) -> None:
        """Doubles the number of micro-batches after memory ran out."""
        if state.accumulation >= rows:
            raise ChainruleError(f"{NOT_ONE_ROW} {self.memory_hint}.")
        state.accumulation = min(2 * state.accumulation, rows)
        self.say(f"out of memory at step {state.step + 1:,}; using {micro_batches(state.accumulation, rows)}.")

    def fit_in_memory(self, state: TrainingState) -> None:
        """Reduces the micro-batches if a batch needs more memory than the machine has, before programs are killed.

        A GPU raises an error instead, and then `step` reduces them.
        """
        if self.place != "CPU":
            return
        before, rows = state.accumulation, self.data.rows
        try:
            while self.micro_batch_rows(state) > 1 and _crowded(self.memory(state)):
                state.accumulation *= 2
        except MemoryError:  # a row or two are read for the estimate
            raise ChainruleError(f"{NOT_ONE_ROW} {self.memory_hint}.") from None
        if state.accumulation > before:
            self.say(f"batch of {rows:,} does not fit in memory; using {micro_batches(state.accumulation, rows)}.")

    def timed_step(self, state: TrainingState) -> float:
        """Seconds of one step without its update; it changes neither weights nor random state."""
        batch, began = self.data.batch(0), time.perf_counter()
        self.seed(0)
        try:
            self.gradients(batch, self.start(), state.accumulation)
            self.wait()
            return time.perf_counter() - began
        except (MemoryError, RuntimeError) as error:
            if not self.recovers(error):
                raise
            lacking = self.lacks_memory(error)
        finally:
            self.zero_grad()
        self.free()
        if lacking:
            self.smaller_micro_batches(state, len(batch))
        return self.timed_step(state)

    def skip(self, state: TrainingState, outcome: Outcome) -> None:
        """Counts a step that is not finite; a few in a row end training."""
        state.skipped, state.skipped_in_a_row = state.skipped + 1, state.skipped_in_a_row + 1
        if self.loss_scale_changed(outcome):
            state.skipped_in_a_row = 0
            return
        what = "loss" if not math.isfinite(outcome.loss) else "gradient"
        self.say(f"step {state.step:,}: the {what} is not finite; the step is skipped, the weights stay.")
        if state.skipped_in_a_row >= IN_A_ROW:
            raise ChainruleError(f"the {what} was not finite in {IN_A_ROW} steps in a row, up to step {state.step:,}. "
                                 f"{self.stability_hint}; with --force, since the recipe is then a different one.")

    def start(self) -> Any:
        """The initial recurrent state; None if no state is carried."""
        begin, end = self.group.share(self.data.rows)
        return self.network.start(end - begin, 1) if self.data.carries else None

    def slices(self, rows: int, count: int) -> list[tuple[int, int]]:
        """Where each micro-batch of this process' rows begins and ends; a short text may have fewer rows than that."""
        begin, end = self.group.share(rows)
        bounds = np.linspace(begin, end, min(count, max(1, end - begin)) + 1).round().astype(int).tolist()
        return [(first, last) for first, last in zip(bounds, bounds[1:], strict=False) if first < last]

    def until_stopped(self, slices: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The micro-batches, as long as no signal has asked to stop; a step of many may take long."""
        for number, each in enumerate(slices):
            if number and self.should_stop():
                raise StepAbandoned
            yield each

    def micro_batch_rows(self, state: TrainingState) -> int:
        return -(-self.data.rows // state.accumulation)

    def isolated_rng(self) -> AbstractContextManager[Any]:
        """Restores the caller's random state afterwards."""
        return nullcontext()

    def loss_scale_changed(self, outcome: Outcome) -> bool:
        """Whether a step was not finite only because of the loss scale of half precision, which is now smaller."""
        return False

    def recovers(self, error: BaseException) -> bool:
        """Whether the step may be tried again after an error."""
        return self.lacks_memory(error)

    def lacks_memory(self, error: BaseException) -> bool:
        return isinstance(error, MemoryError)

    def free(self) -> None:
        """Frees cached memory after memory ran out."""
        self.zero_grad()

    def wait(self) -> None:  # noqa: B027
        """Waits until the device is idle."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many parameters there are."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The learning rate of the last step."""

    @abstractmethod
    def gradients(self, batch: Any, before: Any, accumulation: int) -> tuple[Any, Any]:
        """Gradients of the mean loss of a batch, micro-batch by micro-batch; the summed loss, and the state after."""

    @abstractmethod
    def clipped(self, loss: Any, count: int) -> Outcome:
        """Clips the gradients as planned; the loss, and the norm before clipping."""

    @abstractmethod
    def update(self, state: TrainingState, factor: float) -> None:
        """The optimizer's step, at its learning rate times a factor, and the average's."""

    @abstractmethod
    def zero_grad(self) -> None:
        """Clears the gradients."""

    @abstractmethod
    def seed(self, step: int) -> None:
        """Seeds dropout by seed and step."""

    @abstractmethod
    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        """Evaluates the model on the validation text, so many rows at a time, and generates samples."""

    @abstractmethod
    def finite(self) -> bool:
        """Whether all weights of this process are finite numbers."""

    @abstractmethod
    def checkpoint(self) -> Files:
        """All tensors that the next step depends on; all processes take part."""

    @abstractmethod
    def restore(self, read: Read) -> None:
        """The reverse."""

    @abstractmethod
    def finish(self, best: Read | None) -> None:
        """Sets the final weights: those of the best checkpoint, or the last ones; the average, if there is one."""

    @abstractmethod
    def machine(self) -> dict[str, Any]:
        """Facts about the machine that may change results slightly."""

    @abstractmethod
    def flops_per_token(self) -> float:
        """In training, as `chainrule cost` counts them."""

    @abstractmethod
    def memory(self, state: TrainingState) -> TrainingMemory:
        """The memory that training needs with the current micro-batches, as `chainrule cost` estimates it."""

    @abstractmethod
    def peak_memory(self) -> int:
        """Peak memory of training, in bytes."""


def micro_batches(count: int, rows: int) -> str:
    """`4 micro-batches of 8`, the largest of them."""
    return f"{count:,} micro-batches of {-(-rows // count):,}"


def _crowded(taken: TrainingMemory) -> bool:
    """Whether memory is short and mostly used by activations, which smaller micro-batches reduce."""
    rows = taken.activations + taken.logits
    return taken.total > SHARE * environment.memory() and rows > taken.total / 2
