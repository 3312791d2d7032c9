"""How a model is trained: everything but the model and the data, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from chainrule.errors import OptionError

Choice = str | Mapping[str, Any]
BOOKKEEPING = {"keep", "save_every", "log_every"}  # what may change while a training is interrupted


@dataclass(frozen=True)
class Budget:
    """How much training is done; exactly one of these is given."""

    steps: int | None = None
    epochs: float | None = None
    tokens: float | None = None
    flops: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        given = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        if len(given) != 1:
            raise OptionError("training.budget", given, "exactly one of steps, epochs, tokens, flops and seconds")
        for name, value in given.items():
            if not 0 < value < float("inf"):
                raise OptionError(f"training.budget.{name}", value, "more than 0")


@dataclass(frozen=True)
class Plan:
    """What a recipe's `training` section says."""

    budget: Budget = field(default_factory=lambda: Budget(epochs=1))
    batch: int = 32  # rows of one step
    accumulation: int = 1  # parts that a batch is taken in, one after the other, where memory is short
    optimizer: Choice = "adamw"
    schedule: Choice = "cosine"
    clip: float | None = 1.0  # the largest norm of the gradient
    ema: float | None = None  # decay of a moving average of the weights, which is then used and saved
    label_smoothing: float = 0.0
    reading: Literal["auto", "windows", "contiguous"] = "auto"  # auto: contiguous where nothing but recurrence mixes
    precision: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
    initial: Literal["torch", "engine"] = "torch"  # who draws the first weights; the engine: as a run of its family
    compile: Literal["auto", "on", "off"] = "auto"  # auto: on CUDA
    evaluate_every: int | None = None  # steps; None: ten times in the budget
    evaluate_tokens: int = 1 << 18  # of the validation text, from its beginning
    patience: int | None = None  # evaluations without a better one, then training stops and the best is saved
    log_every: int = 10  # steps between two rows of metrics.jsonl
    keep: int = 2  # checkpoints beside the best; 0 writes none
    save_every: float = 60.0  # seconds between checkpoints
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"batch": 1, "accumulation": 1, "evaluate_tokens": 1, "log_every": 1, "keep": 0, "save_every": 0,
                 "evaluate_every": 1, "patience": 1, "seed": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise OptionError(f"training.{name}", value, f"at least {bound}")
        if self.accumulation > self.batch:
            raise OptionError("training.accumulation", self.accumulation, f"at most training.batch = {self.batch}")
        if self.clip is not None and self.clip <= 0:
            raise OptionError("training.clip", self.clip, "more than 0, or null for none")
        if self.ema is not None and not 0 < self.ema < 1:
            raise OptionError("training.ema", self.ema, "between 0 and 1, or null for none")
        if not 0 <= self.label_smoothing < 1:
            raise OptionError("training.label_smoothing", self.label_smoothing, "at least 0 and less than 1")
        if self.patience is not None and not self.keep:
            raise OptionError("training.keep", 0, "at least 1 with training.patience", "The best is a checkpoint.")
