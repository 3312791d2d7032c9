"""Many small trainings side by side on one GPU: workers that live on take trainings from a list until time is up.

A script makes a list of `Training`s and hands it to `run`. Each worker is a process that loads the data once and trains
one network after the other: starting a process and CUDA takes longer than a short training. Results are appended to a
file of JSON lines as they come; what is in the file already is not trained again, so the same command goes on. It needs
torch, NumPy and safetensors only. NVIDIA's MPS is used where it works, so that kernels of different workers overlap.
"""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.connection
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ALIKE = ("width", "context", "norm", "wiring", "position", "embedding", "dropout")  # a source has the target's


@dataclass(frozen=True)
class Training:
    """One network and how it is trained; `name`, `task`, `seed` and `steps` say which one it is."""

    name: str
    task: str  # language, masked_language or span_corruption
    model: dict[str, Any]  # as in a recipe
    steps: int
    batch: int = 32
    seed: int = 0
    optimizer: dict[str, Any] = field(default_factory=lambda: {"name": "adamw", "rate": 1e-3})
    schedule: dict[str, Any] = field(default_factory=lambda: {"name": "linear", "warmup": 0.1, "final": 0.0})
    evaluate_tokens: int = 1 << 18
    early: float = 1 / 8  # of the steps, after which the loss is measured a first time
    precision: str = "bfloat16"
    then: str | None = None  # `module:function` that is called with the learner and the data, and gives more numbers

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.name, self.task, self.seed, self.steps


def run(trainings: Sequence[Training], data: Path, out: Path, *, workers: int, seconds: float) -> list[dict[str, Any]]:
    """Trains those that the file has not, in their order, until the seconds are over; all results of the file."""
    until = time.time() + seconds
    known = {_key(each) for each in results(out) if "failed" not in each}
    waiting = [each for each in trainings if each.key not in known]
    with overlapping_kernels():
        _drive(waiting, data, out, workers, until)
    return results(out)


def results(out: Path) -> list[dict[str, Any]]:
    """What was trained so far."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []


def _key(found: dict[str, Any]) -> tuple[str, str, int, int]:
    return found["name"], found["task"], found["seed"], found["asked"]


def _drive(waiting: list[Training], data: Path, out: Path, workers: int, until: float) -> None:
    """Gives every free worker the next training; a worker that dies is replaced, and its training has failed."""
    team = [_Worker(data) for _ in range(min(workers, len(waiting)))]
    taken: list[float] = []  # seconds of each training so far
    try:
        while any(worker.training for worker in team) or (waiting and time.time() < until):
            for worker in team:
                enough = not taken or time.time() + 0.7 * sum(taken) / len(taken) < until
                if worker.training is None and waiting and enough:
                    worker.give(waiting.pop(0), until)
            busy = [worker for worker in team if worker.training]
            if not busy:
                break
            multiprocessing.connection.wait([worker.pipe for worker in busy], timeout=1.0)
            for worker in busy:
                found = worker.answer()
                if found is not None:
                    _written(found, out, taken)
    finally:
        for worker in team:
            worker.process.kill()


def _written(found: dict[str, Any], out: Path, taken: list[float]) -> None:
    if "ended" in found:  # time was up: it is trained again by the next call
        print(f"ended early: {found['name']} ({found['task']}) after {found['ended']} steps", file=sys.stderr)
        return
    if "failed" not in found:
        taken.append(found["seconds"])
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps({name: found.get(name) for name in ("name", "task", "seed", "early", "final", "parameters",
                                                        "steps_per_second", "seconds", "failed")}), flush=True)


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, data: Path):
        self.data, self.training = data, None
        self._start()

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, its = spawn.Pipe()
        self.process = spawn.Process(target=_work, args=(its, str(self.data)), daemon=True)
        self.process.start()
        its.close()

    def give(self, training: Training, until: float) -> None:
        self.training: Training | None = training
        self.pipe.send((training, until))

    def answer(self) -> dict[str, Any] | None:
        """What came of its training, if it is done."""
        training = self.training
        assert training is not None
        try:
            if not self.pipe.poll():
                return None
            found = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(5)
            found = {"failed": f"the process ended with {self.process.exitcode}"}
            self._start()
        self.training = None
        return {"name": training.name, "task": training.task, "seed": training.seed, "asked": training.steps, **found}


def _work(pipe: Any, data: str) -> None:
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.set_float32_matmul_precision("high")
    held = dict(np.load(data))
    while True:
        training, until = pipe.recv()
        try:
            found = trained(training, held, until)
        except Exception as error:  # a part that does not work is a result of this benchmark, with its message
            print(f"{training.name}: {traceback.format_exc()}", file=sys.stderr, flush=True)
            found = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        pipe.send(found)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def trained(training: Training, held: dict[str, np.ndarray], until: float = float("inf")) -> dict[str, Any]:
    """Trains one network; its size, speed, and validation loss early and at the end."""
    from chainrule.training.state import TrainingState

    learner, check = prepared(training, held)
    found: dict[str, Any] = {"parameters": learner.size, "flops_per_step": flops_per_step(learner)}
    state, early = TrainingState(accumulation=1), max(1, round(training.steps * training.early))
    began = time.perf_counter()
    norms = []
    while state.step < training.steps:
        if time.time() > until:
            return {"ended": state.step}
        norms.append(learner.step(state, (state.step + 0.5) / training.steps).norm)
        if state.step == early:
            stepping = time.perf_counter() - began
            found["early"] = measured(learner, check)["loss"]
            began = time.perf_counter() - stepping
    seconds = time.perf_counter() - began
    if training.then is not None:
        module, _, name = training.then.partition(":")
        found |= getattr(import_module(module), name)(learner, held)
    return found | {"final": measured(learner, check)["loss"], "steps": state.step, "skipped": state.skipped,
                    "seconds": round(seconds, 2), "steps_per_second": round(state.step / seconds, 3),
                    "gradient_norm": float(np.median(norms)), "tokens": state.tokens,
                    "model": training.model}


def prepared(training: Training, held: dict[str, np.ndarray]) -> tuple[Any, Any]:
    """The learner of `chainrule train`, and the data that it is measured on: the same for every seed."""
    from chainrule.recipe.registry import build
    from chainrule.tasks._text import Text, TextRead
    from chainrule.training.callbacks import Callbacks
    from chainrule.training.networks import chosen_device, new_network
    from chainrule.training.plan import Budget, Plan
    from chainrule.training.torch_learner import TorchLearner

    task = build("tasks", training.task)
    marks = Marks(int(held["size"]), int(held["start"]), int(held["end"]))
    read = TextRead(Text(held["train"]), Text(held["valid"]), marks.start, marks.end, marks, task.sizes)  # type: ignore[arg-type]
    device = chosen_device("auto")
    plan = Plan(Budget(steps=training.steps), batch=training.batch, optimizer=training.optimizer, compile="off", keep=0,
                schedule=training.schedule, precision=training.precision, seed=training.seed, reading="windows",
                evaluate_tokens=training.evaluate_tokens)
    network = new_network(shape(training.model, causal=task.causal), task.sizes(marks.vocabulary_size), plan).to(device)
    callbacks = Callbacks(say=lambda line: print(f"{training.name}: {line}", file=sys.stderr, flush=True))
    data, check = (task.training_data(read, network, each, callbacks.say) for each in (plan, replace(plan, seed=0)))
    return TorchLearner(network, task, data, plan, callbacks), check


@dataclass(frozen=True)
class Marks:
    """What the tasks ask of a tokenizer when the text is already ids."""

    vocabulary_size: int
    start: int
    end: int


def measured(learner: Any, check: Any) -> dict[str, float]:
    """Loss per token of the validation text."""
    import torch

    learner.network.eval()
    with learner.autocast(), torch.no_grad():
        found = learner.task.validate(learner.network, _sent(learner, check))
    learner.network.train()
    return found


def _sent(learner: Any, check: Any) -> Iterator[Any]:
    for batch in check.validation(check.rows):
        yield batch.sent(learner.sent, None)


def flops_per_step(learner: Any) -> int:
    """Of matrix products and attention, forward and backward, counted while the first batch runs."""
    from torch.utils.flop_counter import FlopCounterMode

    with learner.isolated_rng(), FlopCounterMode(display=False) as counter:
        learner.seed(0)
        learner.gradients(learner.data.batch(0), None, 1)
    learner.zero_grad()
    return counter.get_total_flops()


def shape(model: dict[str, Any], *, causal: bool = True) -> Any:
    """A recipe's `model` section as a `Shape`, without the schema, which wants pydantic."""
    from chainrule.models.pattern import slots
    from chainrule.models.shape import USUAL, Shape

    own = dict(model)
    source = own.pop("source", None)
    letters = {letter: own.pop(letter) for letter in USUAL if letter in own}
    parts = {letter: {"name": USUAL[letter], **choice} if isinstance(choice, dict) else choice
             for letter, choice in letters.items() if choice is not None} | own.pop("parts", {})
    if source is None:
        return Shape(parts=parts, causal=own.pop("causal", causal), **own)
    used = {slot.letter for slot in slots(source.get("pattern", model["pattern"]))}
    alike = {name: model[name] for name in (*ALIKE, *(used & set(letters))) if name in model}
    return Shape(parts=parts, causal=causal, source=shape({**alike, **source}, causal=False), **own)


def merged(model: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A model with changes; a section is changed key by key unless the change names another part."""
    found = dict(model)
    for key, value in changes.items():
        old = found.get(key)
        inside = isinstance(value, dict) and isinstance(old, dict) and value.get("name") in (None, old.get("name"))
        found[key] = merged(old, value) if inside else value
    return found


@contextmanager
def overlapping_kernels() -> Iterator[None]:
    """NVIDIA's MPS for the processes that start inside the block, where it is installed and a process can use it."""
    control = shutil.which("nvidia-cuda-mps-control")
    if control is None:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="mps-") as folder:
        own = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        before = dict(os.environ)
        os.environ.update(own)
        subprocess.run([control, "-d"], check=False, capture_output=True)
        probe = [sys.executable, "-c", "import torch; torch.zeros(1, device='cuda')"]
        works = subprocess.run(probe, check=False, capture_output=True).returncode == 0
        print(f"MPS: {'on' if works else 'does not work here'}", file=sys.stderr, flush=True)
        if not works:
            _quit(control)
            os.environ.clear()
            os.environ.update(before)
        try:
            yield
        finally:
            if works:
                _quit(control)
                os.environ.clear()
                os.environ.update(before)


def _quit(control: str) -> None:
    subprocess.run([control], input="quit\n", text=True, check=False, capture_output=True, timeout=20)


def tiny(training: Training) -> Training:
    """The same with sizes that a CPU trains in a second, to see that all of it works."""
    return replace(training, model=_tiny(training.model), steps=4, batch=2, evaluate_tokens=64, precision="float32")


def _tiny(model: dict[str, Any]) -> dict[str, Any]:
    small = {"width": 120 if model.get("width", 0) else None, "context": 32}
    found = {**model, **{key: value for key, value in small.items() if key in model and value is not None}}
    if "source" in found:
        found["source"] = _tiny(found["source"])
    return found
