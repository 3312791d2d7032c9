"""The cost of a model as plain values: parts, bytes, and a whole training; the same for torch and the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from chainrule.models.cost.measuring import Speed

PETAFLOP_DAY = 1e15 * 24 * 3600


@dataclass(frozen=True)
class Part:
    """One kind of part: how often it occurs, its parameters, and its FLOPs for one token."""

    kind: str
    name: str
    times: int = 0
    parameters: int = 0
    forward: float = 0.0
    training: float = 0.0  # forward and backward


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes. Not included: the program itself, short-lived results inside an operation, and gaps of the allocator."""

    weights: int
    gradients: int
    optimizer: int
    activations: int  # what the forward pass keeps for the backward pass, for one micro-batch
    logits: int  # of as many tokens as the loss takes at once: their log-probabilities and two gradients
    average: int = 0  # of the weights, where one is kept

    @property
    def total(self) -> int:
        return sum(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True)
class DecodingMemory:
    """Bytes for one sequence: what stays the same, and what each token adds."""

    fixed: int
    per_token: int


def estimated(vocabulary_size: int, context: int, parts: Sequence[Part], training: TrainingMemory,
              decoding: DecodingMemory, measured: Speed | None) -> dict[str, Any]:
    """Parameters and FLOPs by part, FLOPs per token, bytes, and tokens per second on this machine."""
    flops = sum(part.training for part in parts)
    found = {
        "vocabulary": vocabulary_size,
        "context": context,
        "parts": [asdict(part) for part in parts],
        "parameters": sum(part.parameters for part in parts),
        "flops_per_token": {"forward": sum(part.forward for part in parts), "training": flops},
        "training_bytes": {**asdict(training), "total": training.total},
        "decoding_bytes": asdict(decoding),
    }
    if measured is not None:
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
