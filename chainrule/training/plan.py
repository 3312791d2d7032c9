"""How a model is trained: everything but the model and the data, as plain values."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from chainrule.errors import OptionError
from chainrule.recipe.choices import Choice

LARGEST = 1 << 24  # rows of a batch; no training that has been published takes more
BOOKKEEPING = {"keep", "save_every", "log_every", "loggers"}  # options that may change when a training is resumed
FITS = {"ge": operator.ge, "le": operator.le, "gt": operator.gt, "lt": operator.lt}


def bounded(default: Any, *, least: float | None = None, most: float | None = None, above: float | None = None,
            below: float | None = None) -> Any:
    """A field with bounds, which recipes and plans check alike; None is allowed where the default is None."""
    return field(default=default, metadata={name: value for name, value in (
        ("ge", least), ("le", most), ("gt", above), ("lt", below)) if value is not None})


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

    @property
    def kind(self) -> str:
        """What is counted: `seconds`, `tokens`, …"""
        return next(each.name for each in fields(self) if getattr(self, each.name) is not None)

    @property
    def amount(self) -> float:
        return getattr(self, self.kind)

    def __str__(self) -> str:
        return f"{self.amount:,.6g} {'FLOPs' if self.kind == 'flops' else self.kind}"


@dataclass(frozen=True)
class Plan:
    """What a recipe's `training` section says."""

    budget: Budget = field(default_factory=lambda: Budget(epochs=1))
    batch: int = bounded(32, least=1, most=LARGEST)  # rows of one step
    batch_tokens: int | None = bounded(None, least=1)  # of rows of different lengths: tokens of a batch, not its rows
    accumulation: int = bounded(1, least=1)  # micro-batches of each batch, if memory is short
    optimizer: Choice = "adamw"
    schedule: Choice = "cosine"
    unfreeze: Literal["all", "none", "gradual"] = "all"  # which sublayers are trained: gradual is one more an epoch
    layer_decay: float = bounded(1.0, above=0, most=1)  # the rate of a sublayer, of that of the one above it
    clip: float | None = bounded(1.0, above=0)  # the largest norm of the gradient
    ema: float | None = bounded(None, above=0, below=1)  # decay of a moving average of the weights, which is then used
    average: int | None = bounded(None, least=1)  # the mean of the weights at so many last evaluations is used
    label_smoothing: float = bounded(0.0, least=0, below=1)
    reading: Literal["auto", "windows", "contiguous", "varied"] = "auto"  # auto: contiguous for recurrence alone
    precision: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
    initial: Literal["torch", "engine"] = "torch"  # which family draws the initial weights
    compile: Literal["auto", "on", "off"] = "auto"  # auto: on CUDA
    evaluate_every: int | None = bounded(None, least=1)  # steps; None: ten times in the budget
    evaluate_tokens: int = bounded(1 << 18, least=1)  # of the validation text, from its beginning
    patience: int | None = bounded(None, least=1)  # evaluations without a better one; then the best is saved
    log_every: int = bounded(10, least=1)  # steps between two rows of metrics.jsonl
    loggers: tuple[Choice, ...] = ()  # programs that show curves and get those rows: tensorboard, wandb
    keep: int = bounded(2, least=0)  # checkpoints beside the best; 0 writes none
    save_every: float = bounded(60.0, least=0)  # seconds between checkpoints
    seed: int = bounded(0, least=0)

    def __post_init__(self) -> None:
        words = {"ge": "at least {}", "le": "at most {:,}", "gt": "more than {}", "lt": "less than {}"}
        for each in fields(self):
            value = getattr(self, each.name)
            for name, bound in each.metadata.items():
                if value is not None and not FITS[name](value, bound):
                    none = ", or null for none" if each.default is None or each.name == "clip" else ""
                    raise OptionError(f"training.{each.name}", value, words[name].format(bound) + none)
        if self.accumulation > self.batch:
            raise OptionError("training.accumulation", self.accumulation, f"at most training.batch = {self.batch}")
        for option in ("patience", "average"):
            if getattr(self, option) is not None and not self.keep:
                raise OptionError("training.keep", 0, f"at least 1 with training.{option}", "What is kept of earlier "
                                  "steps are checkpoints.")
