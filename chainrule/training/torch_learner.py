"""Learning in torch: on any device, in any precision, compiled or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.models.cost.memory import training_memory
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.recipe.registry import build
from chainrule.tasks.cross_entropy import LOGITS
from chainrule.tasks.task import Batch, Task
from chainrule.training import carried, weights
from chainrule.training.averaging import Average
from chainrule.training.compiling import Compiled
from chainrule.training.course import Course
from chainrule.training.flops import training_flops_per_token
from chainrule.training.journal import peak_memory
from chainrule.training.learner import Learner, Outcome
from chainrule.training.plan import Plan

MODEL, OPTIMIZER, MEMORY = "model.safetensors", "optimizer.safetensors", "memory.safetensors"
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
NO_MEMORY = ("not enough memory", "can't allocate memory", "out of memory")
PLACES = {"cpu": "CPU", "cuda": "GPU"}


class TorchLearner(Learner):
    """A module of torch, its optimizer, the scale of half precision, and the average of its weights."""

    tensorboard = True
    calmer = ("Try a lower training.optimizer.rate, a longer warmup (training.schedule.warmup), training.clip=1.0, or "
              "training.precision=float32")
    smaller = "Try a smaller model.width or model.context, or training.precision=bfloat16"
    forgetful = "model.dropout.rate"

    def __init__(self, model: Any, task: Task, plan: Plan, say: Callable[[str], None]):
        super().__init__(model.train(), task, plan, say)
        self.parameters = list(model.parameters())
        self.device = self.parameters[0].device
        self.place = PLACES.get(self.device.type, self.device.type)
        self.optimizer = build("training/optimizers", plan.optimizer, list(model.named_parameters()))
        for group in self.optimizer.param_groups:
            group["base"] = group["lr"]
        self.average = Average(model, plan.ema) if plan.ema else None
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=plan.precision == "float16")
        self.compiled = Compiled(model, plan.compile, self.device, say)

    def batch(self, step: int) -> Batch:
        return self.task.batch(step, self.device)

    def in_pieces(self, pieces: int, batch: Batch, before: Any) -> tuple[Tensor, Any]:
        total, states = torch.zeros((), device=self.device), []
        for begin, end in self.pieces(pieces, batch):
            state = before if pieces == 1 else carried.rows(before, begin, end, self.device)
            with self.autocast():
                loss, after = self.compiled.run(self.task.loss, batch.rows(begin, end), state)
            self.scaler.scale(loss / batch.tokens).backward()
            total += loss.detach()
            states.append(after)
        return total, carried.joined(states, before)

    def clipped(self, loss: Tensor, tokens: int) -> Outcome:
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.parameters, self.plan.clip or math.inf)
        return Outcome(*torch.stack([loss / tokens, norm]).tolist())

    def apply(self, course: Course, factor: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.average:
            self.average.update(course.step)

    def forget(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)

    def free(self) -> None:
        self.forget()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def rescaled(self, outcome: Outcome) -> bool:
        if not self.scaler.is_enabled():
            return False
        self.scaler.update()
        return math.isfinite(outcome.loss) and self.scaler.get_scale() >= 1

    def lacks_memory(self, error: BaseException) -> bool:
        words = str(error).lower()
        return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(each in words for each in NO_MEMORY)

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision that the plan asks for."""
        if self.plan.precision in ("float32", "float64"):
            return nullcontext()
        return torch.autocast(self.device.type, DTYPES[self.plan.precision])

    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        self.model.eval()
        with self.average.used() if self.average else nullcontext(), self.autocast():
            found = self.task.evaluate(self.model, self.device, rows)
            samples = self.task.samples(self.model) if writes else []
        self.model.train()
        return found, samples

    def own_chance(self) -> AbstractContextManager[Any]:
        """On the host, and on the device."""
        return torch.random.fork_rng([self.device] if self.device.type == "cuda" else [])

    def draw(self, step: int) -> None:
        """Devices that are not used are left alone."""
        seed = int(np.random.SeedSequence([self.plan.seed, step]).generate_state(1, np.uint64)[0])
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index or 0].manual_seed(seed)

    def save(self, folder: Path) -> None:
        weights.save(folder / MODEL, weights.weights(self.model))
        weights.save(folder / OPTIMIZER, weights.optimizer_state(self.optimizer))
        memory = {f"average.{name}": tensor for name, tensor in (self.average.tensors if self.average else {}).items()}
        memory |= {f"carried.{n:04d}": torch.as_tensor(leaf) for n, leaf in enumerate(carried.leaves(self.state))}
        if self.scaler.is_enabled():
            kept = self.scaler.state_dict()
            memory["scaler"] = torch.tensor([kept["scale"], kept["_growth_tracker"]], dtype=torch.float64)
        weights.save(folder / MEMORY, memory)

    def restore(self, folder: Path) -> None:
        weights.put(self.model, weights.read(folder / MODEL), folder / MODEL)
        weights.put_optimizer_state(self.optimizer, weights.read(folder / OPTIMIZER))
        memory = weights.read(folder / MEMORY)
        if self.average:
            self.average.tensors = {name: memory[f"average.{name}"].to(self.device) for name in self.average.tensors}
        kept = [tensor.to(self.device) for name, tensor in sorted(memory.items()) if name.startswith("carried.")]
        if kept:
            self.state = carried.restored(self.start(), kept)
        if "scaler" in memory:
            scale, growth = memory["scaler"].tolist()
            self.scaler.load_state_dict({**self.scaler.state_dict(), "scale": scale, "_growth_tracker": int(growth)})

    def finish(self, best: Path | None) -> None:
        if best is not None:
            found = weights.read(best / (MEMORY if self.average else MODEL))
            if self.average:
                found = {name.removeprefix("average."): t for name, t in found.items() if name.startswith("average.")}
            weights.put(self.model, found, best)
        elif self.average:
            weights.put(self.model, self.average.tensors, "the average")
        self.model.eval()

    @property
    def compiles(self) -> bool:
        return self.compiled.fast is not self.model

    @property
    def size(self) -> int:
        return sum(each.numel() for each in self.parameters)

    @property
    def rate(self) -> float:
        return self.optimizer.param_groups[0]["lr"]

    def machine(self) -> dict[str, Any]:
        return {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": self.device.type}

    def flops_per_token(self) -> float:
        return training_flops_per_token(self.model, self.task.context)

    def memory(self, course: Course) -> TrainingMemory:
        pieces = self.rows_at_once(course), self.task.context
        return training_memory(self.model.shape, len(self.model.embedding.weight), pieces,
                               optimizer=lambda named: build("training/optimizers", self.plan.optimizer, named),
                               logits=LOGITS.get(self.device.type, LOGITS["cpu"]),
                               precision=DTYPES[self.plan.precision], average=self.average is not None)

    def peak_memory(self) -> int:
        return torch.cuda.max_memory_allocated(self.device) if self.device.type == "cuda" else peak_memory()
