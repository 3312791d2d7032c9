"""How fast this machine trains a model: a short measurement, cached for a day."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import torch

from chainrule.models.cost.counting import counted, each_letter_once, parameters
from chainrule.models.cost.measuring import Speed, cached_speed, fastest
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.storage.environment import processor

STEP = {"cpu": 1e10, "cuda": 5e12}  # FLOPs of a measured step at most: some 0.3 s of two cores, 50 ms of a GPU
LARGEST = {"cpu": 50_000_000, "cuda": 500_000_000}  # parameters of a model that is really built


def speed(shape: Shape, sizes: Sizes | int, rows: int, precision: str = "float32", *, refresh: bool = False) -> Speed:
    """Training steps of the model itself where it is small, of one sublayer of each letter where it is not, with as
    many of the rows as fit into half a second; for models too large for that, matrix products."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for tried, what in ((shape, "the model"), (each_letter_once(shape), "one sublayer of each kind")):
        flops = sum(part.training for part in counted(tried, sizes)) * shape.context
        some = min(rows, int(STEP[device] / flops))
        if some and parameters(tried, sizes) <= LARGEST[device]:
            key = {"shape": asdict(tried), "sizes": asdict(Sizes.of(sizes)), "rows": some, "precision": precision}
            return _cached_speed(device, key, refresh, lambda tried=tried, what=what, some=some, flops=flops: Speed(  # type: ignore[misc]
                some * flops / _step_seconds(tried, sizes, some, precision, device),
                f"training steps of {what}, {some} × {shape.context} tokens", time.time()))
    return _cached_speed(device, {"products": precision}, refresh, lambda: _products(precision, device))


def _step_seconds(shape: Shape, sizes: Sizes | int, rows: int, precision: str, device: str) -> float:
    """The fastest of a few whole steps: forward, loss, backward, AdamW."""
    with torch.random.fork_rng(), torch.device(device):
        torch.manual_seed(0)
        stack = Stack(shape, sizes)
        stack = stack.double() if precision == "float64" else stack
        inputs, given = stack.example(rows, shape.context, device)
    optimizer = torch.optim.AdamW(stack.parameters(), fused=True)

    def step() -> None:
        with _autocast(precision, device):
            hidden, _ = stack(inputs, given=given)
            hidden = hidden if stack.pooling is None else stack.pooled(hidden)
            wanted = torch.zeros(hidden.shape[:-1], dtype=torch.long, device=device)
            loss = stack.head.loss(hidden, wanted) / wanted.numel()
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
    return fastest(work, torch.cuda.synchronize) if device == "cuda" else fastest(work)


def _autocast(precision: str, device: str) -> Any:
    return nullcontext() if precision in ("float32", "float64") else torch.autocast(device, getattr(torch, precision))


def _cached_speed(device: str, key: dict[str, Any], refresh: bool, measure: Callable[[], Speed]) -> Speed:
    """The cached measurement for this machine, threads and torch; measured if there is none, or with `refresh`."""
    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    key = key | {"machine": name, "threads": torch.get_num_threads(), "torch": torch.__version__}
    return cached_speed(key, refresh, measure)
