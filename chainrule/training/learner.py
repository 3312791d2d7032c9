"""What the loop asks of a learner, and one step: gradients in pieces, clipped, applied; what goes wrong is caught."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.recipe.registry import build
from chainrule.storage import environment
from chainrule.tasks.task import Batch, Task
from chainrule.training.course import Course
from chainrule.training.plan import Plan

ROOM = 0.5  # the share of the machine's memory that training may take by itself
NOT_ONE_ROW = "out of memory with a single row at a time."
IN_A_ROW = 3  # steps that are not finite, then training stops


@dataclass(frozen=True)
class Outcome:
    """What a step gave: the mean loss and the norm of the gradient."""

    loss: float
    norm: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class Learner(ABC):
    """A model with all that changes it: optimizer, schedule, average, and the state carried from step to step.

    What is computed in torch or in the engine is left to the two learners; all else about training is written once.
    """

    place = "CPU"  # where it computes
    tensorboard = False  # whether curves are written for it as well
    calmer = "Try a lower training.optimizer.rate, a longer warmup (training.schedule.warmup), or training.clip=1.0"
    smaller = "Try a smaller model.width or model.context"
    forgetful = "model.dropout"  # the option to raise when the text is learned by heart

    def __init__(self, model: Any, task: Task, plan: Plan, say: Callable[[str], None]):
        self.model, self.task, self.plan, self.say = model, task, plan, say
        self.schedule = build("training/schedules", plan.schedule)
        self.state: Any = None

    def step(self, course: Course, progress: float) -> Outcome:
        """The gradient of one batch, and the weights after it; a gradient that is not finite changes nothing."""
        batch = self.batch(course.step)
        before = self.start() if batch.fresh else self.state
        loss, after = self.gradients(course, batch, before)
        outcome = self.clipped(loss, batch.tokens)
        course.step, course.tokens, course.norm = course.step + 1, course.tokens + batch.tokens, outcome.norm
        if outcome.finite:
            self.apply(course, self.schedule(progress, course.losses))
            self.state = after
            course.skipped_in_a_row = 0
            course.loss_sum, course.loss_steps = course.loss_sum + outcome.loss, course.loss_steps + 1
        else:
            self.state = before
            self.skip(course, outcome)
        self.forget()
        return outcome

    def gradients(self, course: Course, batch: Batch, before: Any) -> tuple[Any, Any]:
        """Summed loss and state after the batch; where memory is short, in twice as many pieces as before."""
        while True:
            self.draw(course.step)
            try:
                return self.in_pieces(course.accumulation, batch, before)
            except (MemoryError, RuntimeError) as error:  # torch's out-of-memory errors are RuntimeErrors
                if not self.lacks_memory(error):
                    raise
                small = course.accumulation >= len(batch)
            self.free()  # after the except block, which holds on to all its tensors
            if small:
                raise ChainruleError(f"{NOT_ONE_ROW} {self.smaller}.")
            course.accumulation = min(2 * course.accumulation, len(batch))
            self.say(f"out of memory: from step {course.step + 1:,} on a batch of {len(batch)} rows is taken in "
                     f"{course.accumulation} pieces.")

    def make_room(self, course: Course) -> None:
        """More pieces, where a batch takes more memory than the machine has: a full one ends programs without a word.

        A GPU refuses by itself, and then `gradients` takes more pieces.
        """
        if self.place != "CPU":
            return
        before = course.accumulation
        try:
            while self.rows_at_once(course) > 1 and _crowded(self.memory(course)):
                course.accumulation *= 2
        except MemoryError:  # a row or two are read to reckon
            raise ChainruleError(f"{NOT_ONE_ROW} {self.smaller}.") from None
        if course.accumulation > before:
            self.say(f"a batch of {self.task.rows:,} rows has no room in memory: it is taken in {course.accumulation} "
                     "pieces.")

    def trial(self, course: Course) -> float:
        """Seconds of one step without its update; it changes neither weights nor chance."""
        batch, began = self.batch(0), time.perf_counter()
        self.gradients(course, batch, self.start())
        self.wait()
        seconds = time.perf_counter() - began
        self.forget()
        return seconds

    def skip(self, course: Course, outcome: Outcome) -> None:
        """Counts a step that is not finite; a few in a row end training."""
        course.skipped, course.skipped_in_a_row = course.skipped + 1, course.skipped_in_a_row + 1
        if self.rescaled(outcome):
            course.skipped_in_a_row = 0
            return
        what = "loss" if not math.isfinite(outcome.loss) else "gradient"
        self.say(f"step {course.step:,}: the {what} is not finite; the step is skipped, the weights stay.")
        if course.skipped_in_a_row >= IN_A_ROW:
            raise ChainruleError(f"the {what} was not finite in {IN_A_ROW} steps in a row, up to step {course.step:,}. "
                                 f"{self.calmer}; with --force, since the recipe then is another.")

    def batch(self, step: int) -> Batch:
        return self.task.batch(step)

    def start(self) -> Any:
        """The state of rows that begin."""
        return self.task.start(self.model, self.task.rows)

    def pieces(self, count: int, batch: Batch) -> list[tuple[int, int]]:
        """Where each of so many stretches of rows begins and ends; a short text may have fewer rows than that."""
        bounds = np.linspace(0, len(batch), count + 1).round().astype(int).tolist()
        return [(begin, end) for begin, end in zip(bounds, bounds[1:], strict=False) if begin < end]

    def rows_at_once(self, course: Course) -> int:
        """Of a batch: what training has memory for."""
        return -(-self.task.rows // course.accumulation)

    def own_chance(self) -> AbstractContextManager[Any]:
        """Afterwards the random state of the caller is as it was before."""
        return nullcontext()

    def rescaled(self, outcome: Outcome) -> bool:
        """Whether a step was not finite only because half precision looks for its scale, which is now another."""
        return False

    def lacks_memory(self, error: BaseException) -> bool:
        return isinstance(error, MemoryError)

    def free(self) -> None:
        """Gives back memory after a lack of it."""
        self.forget()

    def wait(self) -> None:  # noqa: B027
        """Until what was begun is computed."""

    @property
    def compiles(self) -> bool:
        """Whether the first step takes longer than the others."""
        return False

    @property
    @abstractmethod
    def size(self) -> int:
        """How many parameters there are."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The learning rate of the last step."""

    @abstractmethod
    def in_pieces(self, pieces: int, batch: Batch, before: Any) -> tuple[Any, Any]:
        """Gradients of the mean loss; gives the summed loss and the state after the batch."""

    @abstractmethod
    def clipped(self, loss: Any, tokens: int) -> Outcome:
        """The gradients, no larger than the plan lets them be; says their norm before."""

    @abstractmethod
    def apply(self, course: Course, factor: float) -> None:
        """The optimizer's step at its rate times a factor, and the average's."""

    @abstractmethod
    def forget(self) -> None:
        """No gradients are left."""

    @abstractmethod
    def draw(self, step: int) -> None:
        """Dropout, too, is a function of seed and step."""

    @abstractmethod
    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        """Measures the weights for use, so many rows at a time, and lets them write."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Everything that the next step depends on, but the course."""

    @abstractmethod
    def restore(self, folder: Path) -> None:
        """The reverse."""

    @abstractmethod
    def finish(self, best: Path | None) -> None:
        """The model gets the weights for use: those of a checkpoint, or the last ones; averaged, if there is one."""

    @abstractmethod
    def machine(self) -> dict[str, Any]:
        """What the last digits depend on beside the plan."""

    @abstractmethod
    def flops_per_token(self) -> float:
        """In training, as `chainrule cost` counts them."""

    @abstractmethod
    def memory(self, course: Course) -> TrainingMemory:
        """That training takes, as `chainrule cost` reckons it, for the pieces that a batch is taken in."""

    @abstractmethod
    def peak_memory(self) -> int:
        """Bytes that training took."""


def _crowded(taken: TrainingMemory) -> bool:
    """Whether it is too much, and mostly that of rows: fewer at once do not make weights smaller."""
    rows = taken.activations + taken.logits
    return taken.total > ROOM * environment.memory() and rows > taken.total / 2
