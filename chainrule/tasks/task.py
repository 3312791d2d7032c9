"""What the training loop asks of a task; later tasks are further files in this folder."""

from __future__ import annotations

from typing import Any, Protocol


class Batch(Protocol):
    """The rows of one step."""

    @property
    def fresh(self) -> bool:
        """No state goes on from the step before."""
        ...

    @property
    def tokens(self) -> int:
        """Targets: what the summed loss is divided by."""
        ...

    def __len__(self) -> int: ...

    def rows(self, begin: int, end: int) -> Batch:
        """Some of the rows."""
        ...


class Pace(Protocol):
    """How much a step and an evaluation read: what a budget is counted in."""

    rows: int  # of a batch
    context: int  # tokens of a row
    tokens: int  # of the text
    tokens_per_step: int
    steps_per_epoch: float
    evaluation_tokens: int  # of the text kept aside, that an evaluation measures; 0 without one


class Task(Pace, Protocol):
    """Batches, a loss, and a measure on text that was kept aside; tensors are torch's or the engine's."""

    def batch(self, step: int, device: Any = None) -> Batch:
        """What a step reads: a function of the seed and the step alone."""
        ...

    def loss(self, model: Any, batch: Any, state: Any) -> tuple[Any, Any]:
        """The sum of the losses of a batch's targets, and the state after it where one is carried on."""
        ...

    def start(self, model: Any, rows: int) -> Any:
        """The state of rows that begin; None where none is carried."""
        ...

    def evaluate(self, model: Any, device: Any = None, rows: int | None = None) -> dict[str, float]:
        """`loss`, the smaller the better, and other measures, so many rows at a time; {} without text to measure."""
        ...

    def samples(self, model: Any) -> list[str]:
        """What the model writes, for people to see how it comes along."""
        ...

    def bits_per_byte(self, loss: float) -> float | None:
        """Of the text trained on, from the mean loss."""
        ...
