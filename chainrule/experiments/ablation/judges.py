"""What variants are judged by: bits per byte of the text, or the measure of their task, each over the same units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from chainrule.evaluation.measures._measure import Measure
from chainrule.evaluation.ranking import Entry, gap
from chainrule.evaluation.significance import Difference, studentized


class Judge(Protocol):
    """Reads what a training did on each unit: a table for each seed."""

    @property
    def label(self) -> str: ...

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        ...

    @property
    def digits(self) -> int: ...

    @property
    def count(self) -> int:
        """Of units."""
        ...

    def value(self, table: np.ndarray) -> float: ...

    def gap(self, own: Sequence[np.ndarray], base: Sequence[np.ndarray]) -> Difference:
        """own − base, for the choice of units; the tables of the two belong together, seed by seed."""
        ...


@dataclass(frozen=True)
class ByText:
    """Bits per byte or per token: Σ bits / Σ size over blocks of the held-out text."""

    sizes: np.ndarray  # (R,) bytes or tokens of each unit
    label: str = "bits/byte"
    higher: bool = False
    digits: int = 3

    @property
    def count(self) -> int:
        return len(self.sizes)

    def value(self, table: np.ndarray) -> float:
        return float(table.sum() / self.sizes.sum())

    def gap(self, own: Sequence[np.ndarray], base: Sequence[np.ndarray]) -> Difference:
        """By the paired bootstrap, of the means over seeds."""
        mean = np.mean([one - other for one, other in zip(own, base, strict=True)], axis=0)
        return studentized(mean[:, None], self.sizes.astype(np.float64))[0]


@dataclass(frozen=True)
class ByMeasure:
    """The measure of a task over the units that all variants answered."""

    measure: Measure
    count: int

    @property
    def label(self) -> str:
        return self.measure.label

    @property
    def higher(self) -> bool:
        return self.measure.higher

    @property
    def digits(self) -> int:
        return self.measure.digits

    def value(self, table: np.ndarray) -> float:
        return float(self.measure.value(table))

    def gap(self, own: Sequence[np.ndarray], base: Sequence[np.ndarray]) -> Difference:
        """An interval by the paired bootstrap, p by the paired permutation test."""
        return gap(Entry("own", tuple(own)), Entry("base", tuple(base)), self.measure)


def described(judge: Any) -> dict[str, Any]:
    """What the report says of it."""
    return {"label": judge.label, "higher_is_better": judge.higher, "digits": judge.digits}
