"""The training state: counters and losses, everything in a checkpoint besides its tensors."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class TrainingState:
    """Changes with every step; nothing in it depends on the clock but `tenths`, where the budget is in seconds."""

    accumulation: int  # micro-batches of a batch
    step: int = 0
    tokens: int = 0
    skipped: int = 0  # steps with a loss or gradient that was not finite
    skipped_in_a_row: int = 0
    tenths: int = 0  # of the budget, at the last evaluation
    losses: list[float] = field(default_factory=list)  # of the evaluations
    evaluations: list[int] = field(default_factory=list)  # the steps that were evaluated
    best: dict[str, float] = field(default_factory=dict)  # the best evaluation, with its step
    last: dict[str, float] = field(default_factory=dict)
    loss_sum: float = 0.0  # since the last row of metrics
    loss_steps: int = 0
    norm: float = 0.0  # of the last gradient
    metrics_bytes: int = 0  # length of metrics.jsonl

    def out_of_patience(self, patience: int | None) -> bool:
        """Whether the last `patience` evaluations were not better."""
        return patience is not None and bool(self.losses) and len(self.losses) - self.best.get("number", 0) >= patience

    def evaluated(self, found: dict[str, float], rank: float | None = None) -> bool:
        """Records an evaluation; returns whether it is the best so far, which has the smallest rank.

        The rank is the loss, unless the task chooses by another measure.
        """
        self.last = {"step": self.step, **found}
        self.losses.append(found["loss"])
        rank = found["loss"] if rank is None else rank
        better = rank < self.best.get("rank", self.best.get("loss", float("inf")))
        if better:
            self.best = {"step": self.step, "number": len(self.losses), "rank": rank, **found}
        return better

    def keeps_best(self, patience: int | None) -> bool:
        """Whether the final weights are the best evaluation's; if not, they are the last step's."""
        return patience is not None and bool(self.best)

    def averaged(self, count: int | None, last: int) -> list[int]:
        """The steps whose weights are averaged: the last `count` evaluations up to a step; none where one is enough."""
        steps = [step for step in self.evaluations if step <= last][-(count or 1):]
        return steps if len(steps) > 1 else []

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
