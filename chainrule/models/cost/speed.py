"""How fast this machine trains a model: a short measurement, remembered in the user's cache."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F

from chainrule.models.cost.counting import counted, parameters
from chainrule.models.pattern import sublayers
from chainrule.models.stack import Shape, Stack
from chainrule.storage.environment import processor
from chainrule.storage.verified import cache_folder

STEP = {"cpu": 1e10, "cuda": 5e12}  # FLOPs of a measured step at most: some 0.3 s of two cores, 50 ms of a GPU
LARGEST = {"cpu": 50_000_000, "cuda": 500_000_000}  # parameters of a model that is really built
REMEMBERED = 24 * 3600  # seconds: other work on the machine, which slows it down, does not last
SECONDS = 1.2  # of measured steps, beside one that is not measured
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Speed:
    """FLOPs per second in training, as `counting` counts them, and what was run to know it."""

    flops: float
    measured: str
    when: float  # seconds since 1970


def speed(shape: Shape, vocabulary_size: int, rows: int, precision: str = "float32", *, anew: bool = False) -> Speed:
    """Training steps of the model itself where it is small, of one sublayer of each letter where it is not, with as
    many of the rows as fit into half a second; for models too large for that, matrix products."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    each_once = replace(shape, pattern="".join(dict.fromkeys(sublayers(shape.pattern))))
    for tried, what in ((shape, "the model"), (each_once, "one sublayer of each kind")):
        flops = sum(part.training for part in counted(tried, vocabulary_size)) * shape.context
        some = min(rows, int(STEP[device] / flops))
        if some and parameters(tried, vocabulary_size) <= LARGEST[device]:
            key = {"shape": asdict(tried), "vocabulary": vocabulary_size, "rows": some, "precision": precision}
            return _remembered(device, key, anew, lambda tried=tried, what=what, some=some, flops=flops: Speed(  # type: ignore[misc]
                some * flops / _step_seconds(tried, vocabulary_size, some, precision, device),
                f"training steps of {what}, {some} × {shape.context} tokens", time.time()))
    return _remembered(device, {"products": precision}, anew, lambda: _products(precision, device))


def _step_seconds(shape: Shape, vocabulary_size: int, rows: int, precision: str, device: str) -> float:
    """The fastest of a few whole steps: forward, loss, backward, AdamW."""
    with torch.random.fork_rng(), torch.device(device):
        torch.manual_seed(0)
        stack = Stack(shape, vocabulary_size)
        stack = stack.double() if precision == "float64" else stack
        ids = torch.randint(vocabulary_size, (rows, shape.context))
    optimizer = torch.optim.AdamW(stack.parameters(), fused=True)

    def step() -> None:
        with _autocast(precision, device):
            logits = stack.head(stack(ids)[0])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return _fastest(step, device)


def _products(precision: str, device: str) -> Speed:
    """Large products are what large models are made of; they reach a little less of this speed."""
    size = 1024 if device == "cpu" else 8192
    a = torch.ones(size, size, device=device, dtype=getattr(torch, precision))
    return Speed(2 * size**3 / _fastest(lambda: a @ a, device), f"matrix products of {size} × {size}, {precision}",
                 time.time())


def _fastest(work: Callable[[], Any], device: str) -> float:
    best, began = float("inf"), time.perf_counter()
    work()
    while time.perf_counter() - began < SECONDS or best == float("inf"):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def _autocast(precision: str, device: str) -> Any:
    return nullcontext() if precision in ("float32", "float64") else torch.autocast(device, getattr(torch, precision))


def _remembered(device: str, key: dict[str, Any], anew: bool, measure: Callable[[], Speed]) -> Speed:
    """The measurement of this machine, threads and torch, if there is one and none is wanted anew; else it is made."""
    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    key = key | {"machine": name, "threads": torch.get_num_threads(), "torch": torch.__version__}
    note = cache_folder() / "speed" / f"{hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()}.json"
    found = None if anew else _read(note)
    if found is None:
        found = measure()
        try:
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(asdict(found)), encoding="utf-8")
        except OSError as error:  # without a cache it is measured each time
            logger.debug("not remembered: %s", error)
    return found


def _read(note: Path) -> Speed | None:
    try:
        if time.time() - note.stat().st_mtime > REMEMBERED:
            return None
        return Speed(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
