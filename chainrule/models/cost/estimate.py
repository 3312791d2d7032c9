"""The cost of a model before it is trained, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from chainrule.models.cost.counting import counted
from chainrule.models.cost.memory import decoding_memory, training_memory
from chainrule.models.cost.sizes import estimated
from chainrule.models.cost.speed import speed
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes


@dataclass(frozen=True)
class Training:
    """The options of training that change its cost."""

    rows: int = 32  # that are in memory at once
    precision: str = "float32"
    optimizer: Callable[[Any], Any] = torch.optim.AdamW  # made from named parameters
    logits: int = 1 << 24  # that exist at once
    average: bool = False  # of the weights is kept


def estimate(shape: Shape, sizes: Sizes | int, training: Training, *, calibrate: bool = True, refresh: bool = False
             ) -> dict[str, Any]:
    """Parameters and FLOPs by part, FLOPs per token, bytes, and with `calibrate` tokens per second on this machine.

    A speed measured in the last day is taken from the cache, unless `refresh`.
    """
    memory = training_memory(shape, sizes, (training.rows, shape.context),
                             optimizer=training.optimizer, precision=getattr(torch, training.precision),
                             logits=training.logits, average=training.average)
    measured = speed(shape, sizes, training.rows, training.precision, refresh=refresh) if calibrate else None
    return estimated(Sizes.of(sizes).vocabulary, shape.context, counted(shape, sizes), memory,
                     decoding_memory(shape, sizes), measured)
