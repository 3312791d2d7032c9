"""What `compare` asks of a task that has a measure of its own: on what its models are compared, and by what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Contested(Protocol):
    """A task whose models `compare` ranks by a measure over units that all of them answer."""

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """What models of this recipe's task are trained on and ranked by; without `valid` a fraction is held out.

        `targets` belong to `data` and to `valid`, of tasks with sources and targets.
        """
        ...

    def reading(self, recipe: Any) -> Any:
        """What recipes must have in common, besides `text` and `split`, to read the data alike."""
        ...


class Contest(Protocol):
    """Training text, held-out units and the measure: what models of one task are compared on."""

    units: str  # what is measured on and drawn: texts, questions, pairs
    train: Any  # a corpus
    held_out: Any  # with a `fingerprint()`
    split: float  # the share of the data that is held out; 0 where it was given
    measure: Any  # an `evaluation.measures._measure.Measure`
    beside: Mapping[str, Any]  # further numbers of a row: `evaluation.ranking.Column` by name
    notes: Sequence[str]

    def for_validation(self) -> tuple[Any, Any]:
        """The training text in two, for recipes that choose something by validation: never by what is held out."""
        ...

    def answers(self, run: Any) -> Any:
        """What a run did on each unit: an `evaluation.ranking.Answers`."""
        ...

    def baselines(self) -> Mapping[str, Any]:
        """The same of rules that anyone could write down, by name."""
        ...

    def facts(self) -> dict[str, Any]:
        """How much there is to train on and to measure on, for the report."""
        ...
