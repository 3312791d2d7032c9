"""All that can be said about a model's cost before it is trained, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from chainrule.models.cost.counting import counted
from chainrule.models.cost.memory import decoding_memory, training_memory
from chainrule.models.cost.speed import speed
from chainrule.models.stack import Shape

PETAFLOP_DAY = 1e15 * 24 * 3600


@dataclass(frozen=True)
class Training:
    """What matters of how the model is trained."""

    rows: int = 32  # that are in memory at once
    precision: str = "float32"
    optimizer: Callable[[Any], Any] = torch.optim.AdamW  # made from named parameters
    logits: int = 1 << 24  # that exist at once
    average: bool = False  # of the weights is kept


def estimate(shape: Shape, vocabulary_size: int, training: Training, *, calibrate: bool = True, anew: bool = False
             ) -> dict[str, Any]:
    """Parameters and FLOPs by part, FLOPs per token, bytes, and with `calibrate` tokens per second on this machine.

    A speed that was measured in the last day is remembered, unless it is wanted `anew`.
    """
    parts = counted(shape, vocabulary_size)
    memory = training_memory(shape, vocabulary_size, (training.rows, shape.context),
                             optimizer=training.optimizer, precision=getattr(torch, training.precision),
                             logits=training.logits, average=training.average)
    flops = sum(part.training for part in parts)
    found = {
        "vocabulary": vocabulary_size,
        "context": shape.context,
        "parts": [asdict(part) for part in parts],
        "parameters": sum(part.parameters for part in parts),
        "flops_per_token": {"forward": sum(part.forward for part in parts), "training": flops},
        "training_bytes": {**asdict(memory), "total": memory.total},
        "decoding_bytes": asdict(decoding_memory(shape, vocabulary_size)),
    }
    if calibrate:
        measured = speed(shape, vocabulary_size, training.rows, training.precision, anew=anew)
        found["speed"] = {"flops": measured.flops, "tokens": measured.flops / flops, "measured": measured.measured,
                          "when": measured.when}
    return found


def run_cost(found: dict[str, Any], tokens: float) -> dict[str, float]:
    """Training on so many tokens: FLOPs as counted and as 6 N D, in petaflop/s-days too, and seconds on this machine.

    6 N D counts two FLOPs per parameter forward and four backward, embeddings included and attention over the context
    left out: Brown et al. 2020, arXiv:2005.14165, table D.1.
    """
    flops, simple = tokens * found["flops_per_token"]["training"], 6.0 * tokens * found["parameters"]
    costs = {"tokens": tokens, "flops": flops, "petaflop_days": flops / PETAFLOP_DAY, "flops_6nd": simple,
             "petaflop_days_6nd": simple / PETAFLOP_DAY}
    return costs | ({"seconds": flops / found["speed"]["flops"]} if "speed" in found else {})
