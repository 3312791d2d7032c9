"""Training in torch: on any device, in any precision, compiled or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.cost.memory import training_memory
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.parts import state as states
from chainrule.parts.heads._head import SCORES
from chainrule.recipe.registry import build
from chainrule.storage.environment import peak_memory
from chainrule.training import weights
from chainrule.training.averaging import Average, TriggeredAverage
from chainrule.training.checkpoints import MEMORY, MODEL, OPTIMIZER, Files, Read, gathered
from chainrule.training.layers import freeze, split_groups, thawed
from chainrule.training.learner import Learner, Outcome
from chainrule.training.objective import Objective
from chainrule.training.state import TrainingState

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
NO_MEMORY = ("not enough memory", "can't allocate memory", "out of memory")
PLACES = {"cpu": "CPU", "cuda": "GPU"}


class TorchLearner(Learner):
    """A network of torch, its optimizer, the scale of half precision, and the average of its weights."""

    stability_hint = ("Try a lower training.optimizer.rate, a longer warmup (training.schedule.warmup), "
                      "training.clip=1.0, or training.precision=float32")
    memory_hint = "Try a smaller model.width or model.context, or training.precision=bfloat16"

    def __init__(self, network: Any, task: Any, data: Any, plan: Any, callbacks: Any, group: Any = None):
        super().__init__(network.train(), task, data, plan, callbacks, group)
        if plan.unfreeze == "none":
            freeze(network)
        self.parameters = list(network.parameters())
        self.device = self.parameters[0].device
        self.place = PLACES.get(self.device.type, self.device.type)
        self.optimizer = build("training/optimizers", plan.optimizer, list(network.named_parameters()))
        self.by_depth = plan.layer_decay < 1 or plan.unfreeze == "gradual"
        if self.by_depth:
            split_groups(self.optimizer, network, plan.layer_decay)
        for group_ in self.optimizer.param_groups:
            group_["base"] = group_["lr"]
        self.average = self._averaged()
        self._memory: dict[int, TrainingMemory] = {}  # by rows of a micro-batch
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=plan.precision == "float16")
        self.objective = Objective(network, task, smoothing=plan.label_smoothing)
        self.compiles = plan.compile == "on" or (plan.compile == "auto" and self.device.type == "cuda" and data.fixed)
        self.objective.compile_network(self.compiles)

    def _averaged(self) -> Average | None:
        """The average that the plan asks for, or that the optimizer is made of."""
        if (after := getattr(self.optimizer, "non_monotone", None)) is None:
            return Average(self.network, self.plan.ema) if self.plan.ema else None
        if self.plan.ema:
            raise OptionError("training.ema", self.plan.ema, "null", "The optimizer has an average of its own.")
        return TriggeredAverage(self.network, after)

    def gradients(self, batch: Any, before: Any, accumulation: int) -> tuple[Tensor, Any]:
        total, after = torch.zeros((), device=self.device), []
        slices = self.slices(len(batch), accumulation)
        for begin, end in self.until_stopped(slices):
            micro = batch.rows(begin, end).sent(self.sent, self._rows(before, begin, end, len(slices)))
            with self.autocast():
                whole, loss, own = self.objective(micro)
            self.scaler.scale(whole / batch.count).backward()
            total += loss
            after.append(own)
        return total, self._joined(after, before) if after and before is not None else before

    def _rows(self, state: Any, begin: int, end: int, slices: int) -> Any:
        """The state of some rows of a batch; this process has only its own."""
        first, _ = self.group.share(self.data.rows)
        return state if slices == 1 else states.mapped(state, lambda tensor: tensor[begin - first:end - first])

    def _joined(self, pieces: list[Any], like: Any) -> Any:
        """The state after all micro-batches, without history and in the precision that it had before."""
        whole = states.join([states.detach(each) for each in pieces])
        old = states.leaves(like)
        return states.mapped(whole, lambda tensor: tensor.to(next(old).dtype))

    def sent(self, array: np.ndarray) -> Tensor:
        """An array where the network computes."""
        tensor = torch.from_numpy(array)
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor

    def clipped(self, loss: Tensor, count: int) -> Outcome:
        if self.group.size > 1:
            self._sum_over_group(loss)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.parameters, self.plan.clip or math.inf)
        return Outcome(*torch.stack([loss / count, norm]).tolist())

    def _sum_over_group(self, loss: Tensor) -> None:
        """Loss and gradients of all processes, in place; one that had no row takes part with zeros."""
        used = torch.tensor([each.grad is not None for each in self.parameters], dtype=loss.dtype, device=loss.device)
        self.group.sum_([loss, used])
        own = [each for each, times in zip(self.parameters, used.tolist(), strict=True) if times]
        for each in own:
            each.grad = torch.zeros_like(each) if each.grad is None else each.grad
        self.group.sum_([each.grad for each in own])

    def update(self, state: TrainingState, factor: float) -> None:
        epochs = (state.step - 1) / self.data.steps_per_epoch
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor * group.get("scale", 1.0)
            if self.plan.unfreeze == "gradual" and not thawed(group, epochs):
                group["lr"] = 0.0
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.average:
            self.average.update(state)

    def zero_grad(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)

    def free(self) -> None:
        self.zero_grad()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def loss_scale_changed(self, outcome: Outcome) -> bool:
        if not self.scaler.is_enabled():
            return False
        self.scaler.update()
        return math.isfinite(outcome.loss) and self.scaler.get_scale() >= 1

    def recovers(self, error: BaseException) -> bool:
        """Whether the step can be repeated: memory ran out, or compilation failed and is now switched off."""
        if self.lacks_memory(error):
            return True
        from torch._dynamo.exc import TorchDynamoException

        if not self.compiles or not isinstance(error, TorchDynamoException):
            return False
        self.compiles = False
        self.objective.compile_network(False)
        reason = str(error).strip().split("\n")[0]
        self.say(f"torch.compile does not work here ({reason}); training continues without it.")
        return True

    def lacks_memory(self, error: BaseException) -> bool:
        words = str(error).lower()
        return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(each in words for each in NO_MEMORY)

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision that the plan asks for."""
        if self.plan.precision in ("float32", "float64"):
            return nullcontext()
        return torch.autocast(self.device.type, DTYPES[self.plan.precision])

    def evaluate(self, rows: int, *, writes: bool) -> tuple[dict[str, float], list[str]]:
        self.network.eval()
        with self.average.used() if self.average else nullcontext(), self.autocast():
            with torch.no_grad():
                found = self.task.validate(self.network, self._validation(rows))
            samples = self.task.samples(self.network, self.data.known) if writes and self.data.known else []
        self.network.train()
        return found, samples

    def _validation(self, rows: int) -> Iterator[Any]:
        for batch in self.data.validation(rows):
            fresh = batch.fresh and self.data.carries
            yield batch.sent(self.sent, self.network.start(len(batch), 1) if fresh else None)

    def isolated_rng(self) -> AbstractContextManager[Any]:
        """On the host, and on the device."""
        return torch.random.fork_rng([self.device] if self.device.type == "cuda" else [])

    def seed(self, step: int) -> None:
        """Seeds only the device in use; each process draws its own numbers."""
        numbers = [self.plan.seed, step] + ([self.group.rank] if self.group.rank else [])
        seed = int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index or 0].manual_seed(seed)

    def finite(self) -> bool:
        own = (each.to_local() if hasattr(each, "to_local") else each for each in self.network.parameters())
        return all(bool(torch.isfinite(each).all()) for each in own)

    def checkpoint(self) -> Files:
        memory = {f"average.{name}": tensor for name, tensor in (self.average.tensors if self.average else {}).items()}
        shares = self.group.gather([leaf.cpu() for leaf in states.leaves(self.state)])
        memory |= {f"carried.{n:04d}": torch.cat(leaves) for n, leaves in enumerate(zip(*shares, strict=True))}
        if self.scaler.is_enabled():
            kept = self.scaler.state_dict()
            memory["scaler"] = torch.tensor([kept["scale"], kept["_growth_tracker"]], dtype=torch.float64)
        return {MODEL: gathered(weights.weights(self.network)), MEMORY: gathered(memory),
                OPTIMIZER: gathered(weights.optimizer_state(self.optimizer))}

    def restore(self, read: Read) -> None:
        weights.put(self.network, read(MODEL), MODEL)
        weights.put_optimizer_state(self.optimizer, _tensors(read(OPTIMIZER)))
        memory = _tensors(read(MEMORY))
        if self.average:
            self.average.tensors = {name: memory[f"average.{name}"].to(self.device) for name in self.average.tensors}
        own = slice(*self.group.share(self.data.rows))
        kept = [tensor[own].to(self.device) for name, tensor in sorted(memory.items()) if name.startswith("carried.")]
        if kept:
            self.state = states.rebuilt(self.start(), iter(kept))
        if "scaler" in memory:
            scale, growth = memory["scaler"].tolist()
            self.scaler.load_state_dict({**self.scaler.state_dict(), "scale": scale, "_growth_tracker": int(growth)})

    def finish(self, best: Read | None) -> None:
        if best is not None:
            found = best(MEMORY if self.average else MODEL)
            if self.average:
                found = {name.removeprefix("average."): t for name, t in found.items() if name.startswith("average.")}
            weights.put(self.network, found, "the best checkpoint")
        elif self.average:
            weights.put(self.network, gathered(self.average.tensors), "the average")
        self.network.eval()

    @property
    def size(self) -> int:
        return sum(each.numel() for each in self.parameters)

    @property
    def rate(self) -> float:
        return self.optimizer.param_groups[0]["lr"]

    def machine(self) -> dict[str, Any]:
        return {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": self.device.type}

    def flops_per_token(self) -> float:
        network = self.network
        return sum(part.training for part in counted(network.shape, network.sizes, self.data.context))

    def memory(self, state: TrainingState) -> TrainingMemory:
        rows = self.micro_batch_rows(state)
        if rows not in self._memory:  # counting takes as long as many steps of a small network
            self._memory[rows] = training_memory(
                self.network.shape, self.network.sizes, (rows, self.data.context),
                optimizer=lambda named: build("training/optimizers", self.plan.optimizer, named),
                logits=SCORES.get(self.device.type, SCORES["cpu"]), precision=DTYPES[self.plan.precision],
                average=self.average is not None)
        return self._memory[rows]

    def peak_memory(self) -> int:
        return torch.cuda.max_memory_allocated(self.device) if self.device.type == "cuda" else peak_memory()


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
