"""One step of training: gradients in pieces, clipped, applied; what is not finite or does not fit is caught."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.errors import ChainruleError
from chainrule.registry import build
from chainrule.tasks.task import Batch, Task
from chainrule.training import carried, weights
from chainrule.training.averaging import Average
from chainrule.training.compiling import Compiled
from chainrule.training.course import Course
from chainrule.training.plan import Plan

IN_A_ROW = 3  # steps that are not finite, then training stops
MODEL, OPTIMIZER, MEMORY = "model.safetensors", "optimizer.safetensors", "memory.safetensors"
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
ADVICE = ("Try a lower training.optimizer.rate, a longer warmup (training.schedule.warmup), training.clip=1.0, or "
          "training.precision=float32; with --force, since the recipe then is another.")
NO_MEMORY = ("not enough memory", "can't allocate memory", "out of memory")


@dataclass(frozen=True)
class Outcome:
    """What a step gave: the mean loss and the norm of the gradient."""

    loss: float
    norm: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class Learner:
    """A model with all that changes it: optimizer, average, and the state that is carried from step to step."""

    def __init__(self, model: Any, task: Task, plan: Plan, say: Callable[[str], None]):
        self.model, self.task, self.plan, self.say = model, task, plan, say
        self.parameters = list(model.parameters())
        self.device = self.parameters[0].device
        self.optimizer = build("training/optimizers", plan.optimizer, list(model.named_parameters()))
        for group in self.optimizer.param_groups:
            group["base"] = group["lr"]
        self.schedule = build("training/schedules", plan.schedule)
        self.average = Average(model, plan.ema) if plan.ema else None
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=plan.precision == "float16")
        self.compiled = Compiled(model, plan.compile, self.device, say)
        self.state: Any = None

    def step(self, course: Course, progress: float) -> Outcome:
        """The gradient of one batch, and the weights after it; a gradient that is not finite changes nothing."""
        batch = self.task.batch(course.step, self.device)
        before = self.task.start(self.model, self.task.rows) if batch.fresh else self.state
        loss, after = self.gradients(course, batch, before)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.parameters, self.plan.clip or math.inf)
        outcome = Outcome(*torch.stack([loss / batch.tokens, norm]).tolist())
        course.step, course.tokens, course.norm = course.step + 1, course.tokens + batch.tokens, outcome.norm
        if outcome.finite:
            self._apply(course, progress)
            self.state = after
            course.skipped_in_a_row = 0
            course.loss_sum, course.loss_steps = course.loss_sum + outcome.loss, course.loss_steps + 1
        else:
            self.state = before
            self._skip(course, outcome)
        self.optimizer.zero_grad(set_to_none=True)
        return outcome

    def gradients(self, course: Course, batch: Batch, before: Any) -> tuple[Tensor, Any]:
        """Summed loss and state after the batch; where memory is short, in twice as many pieces as before."""
        while True:
            self._seed(course.step)
            try:
                return self._in_pieces(course.accumulation, batch, before)
            except (MemoryError, RuntimeError) as error:  # torch's out-of-memory errors are RuntimeErrors
                if not _is_memory(error):
                    raise
                small = course.accumulation >= len(batch)
            self.optimizer.zero_grad(set_to_none=True)  # after the except block, which holds on to all its tensors
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
            if small:
                raise ChainruleError("out of memory with a single row at a time. Try a smaller model.width or "
                                     "model.context, or training.precision=bfloat16.")
            course.accumulation = min(2 * course.accumulation, len(batch))
            self.say(f"out of memory: from step {course.step + 1:,} on a batch of {len(batch)} rows is taken in "
                     f"{course.accumulation} pieces.")

    def _in_pieces(self, pieces: int, batch: Batch, before: Any) -> tuple[Tensor, Any]:
        total, states = torch.zeros((), device=self.device), []
        bounds = np.linspace(0, len(batch), pieces + 1).round().astype(int)
        for begin, end in zip(bounds, bounds[1:], strict=False):
            state = before if pieces == 1 else carried.rows(before, begin, end, self.device)
            with self.autocast():
                loss, after = self.compiled.run(self.task.loss, batch.rows(begin, end), state)
            self.scaler.scale(loss / batch.tokens).backward()
            total += loss.detach()
            states.append(after)
        return total, carried.joined(states, before)

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision that the plan asks for."""
        if self.plan.precision in ("float32", "float64"):
            return nullcontext()
        return torch.autocast(self.device.type, DTYPES[self.plan.precision])

    def rate(self, progress: float, losses: list[float]) -> float:
        """The learning rate now; sets it."""
        factor = self.schedule(progress, losses)
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor
        return self.optimizer.param_groups[0]["lr"]

    def used(self) -> AbstractContextManager[Any]:
        """The model with the weights that would be saved for use."""
        return self.average.used() if self.average else nullcontext()

    def _apply(self, course: Course, progress: float) -> None:
        self.rate(progress, course.losses)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.average:
            self.average.update(course.step)

    def _skip(self, course: Course, outcome: Outcome) -> None:
        course.skipped, course.skipped_in_a_row = course.skipped + 1, course.skipped_in_a_row + 1
        if self.scaler.is_enabled():
            self.scaler.update()
            if math.isfinite(outcome.loss) and self.scaler.get_scale() >= 1:
                course.skipped_in_a_row = 0  # half precision looks for its scale
                return
        what = "loss" if not math.isfinite(outcome.loss) else "gradient"
        self.say(f"step {course.step:,}: the {what} is not finite; the step is skipped, the weights stay.")
        if course.skipped_in_a_row >= IN_A_ROW:
            raise ChainruleError(f"the {what} was not finite in {IN_A_ROW} steps in a row, up to step {course.step:,}. "
                                 f"{ADVICE}")

    def own_chance(self) -> AbstractContextManager[Any]:
        """Afterwards the random state is as it was before: on the host, and on the device."""
        return torch.random.fork_rng([self.device] if self.device.type == "cuda" else [])

    def _seed(self, step: int) -> None:
        """Dropout, too, is a function of seed and step; devices that are not used are left alone."""
        seed = int(np.random.SeedSequence([self.plan.seed, step]).generate_state(1, np.uint64)[0])
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index or 0].manual_seed(seed)

    def save(self, folder: Path) -> None:
        """Everything that the next step depends on, but the course."""
        weights.save(folder / MODEL, weights.weights(self.model))
        weights.save(folder / OPTIMIZER, weights.optimizer_state(self.optimizer))
        memory = {f"average.{name}": tensor for name, tensor in (self.average.tensors if self.average else {}).items()}
        memory |= {f"carried.{n:04d}": torch.as_tensor(leaf) for n, leaf in enumerate(carried.leaves(self.state))}
        if self.scaler.is_enabled():
            kept = self.scaler.state_dict()
            memory["scaler"] = torch.tensor([kept["scale"], kept["_growth_tracker"]], dtype=torch.float64)
        weights.save(folder / MEMORY, memory)

    def restore(self, folder: Path) -> None:
        """The reverse."""
        weights.put(self.model, weights.read(folder / MODEL), folder / MODEL)
        weights.put_optimizer_state(self.optimizer, weights.read(folder / OPTIMIZER))
        memory = weights.read(folder / MEMORY)
        if self.average:
            self.average.tensors = {name: memory[f"average.{name}"].to(self.device) for name in self.average.tensors}
        kept = [tensor.to(self.device) for name, tensor in sorted(memory.items()) if name.startswith("carried.")]
        if kept:
            self.state = carried.restored(self.task.start(self.model, self.task.rows), kept)
        if "scaler" in memory:
            scale, growth = memory["scaler"].tolist()
            self.scaler.load_state_dict({**self.scaler.state_dict(), "scale": scale, "_growth_tracker": int(growth)})


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(w in str(error).lower() for w in NO_MEMORY)
