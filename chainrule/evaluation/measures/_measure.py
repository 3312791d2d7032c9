"""What a measure does: a number from what a model did on each unit, also for units drawn again or exchanged."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

import numpy as np


class Measure(Protocol):
    """A measure reads a table with a row for each unit (text, question, pair …); its columns are the measure's own.

    Units are drawn again for an interval, and two models' rows exchanged for a test, so a measure gives both at once.
    """

    label: str  # the heading of its column
    higher: bool  # whether more is better
    digits: int  # printed behind the point
    bounds: tuple[float, float]

    def value(self, table_RK: np.ndarray) -> float:
        """The measure of these units; NaN where they do not define it."""
        ...

    def drawn(self, table_RK: np.ndarray, times_DR: np.ndarray) -> np.ndarray:
        """(D,): the measure of D resamples; unit r occurs times_DR[d, r] times."""
        ...

    def exchanged(self, a_RK: np.ndarray, b_RK: np.ndarray, from_b_DR: np.ndarray) -> np.ndarray:
        """(D,): the measure of table a where the rows named by `from_b_DR` are taken from b."""
        ...

    def interval(self, table_RK: np.ndarray) -> tuple[float, float] | None:
        """A 95 % interval by an equation, where there is one; None leaves it to the bootstrap."""
        ...

    def pooled(self, table_RK: np.ndarray, most: int) -> np.ndarray:
        """A table of at most `most` rows with the same value, where neighboring units can be added up."""
        ...


class OfSums(Measure):
    """A measure that depends only on the sums of the columns: accuracy, F1, corpus BLEU, bits per byte."""

    @abstractmethod
    def of(self, sums: np.ndarray) -> np.ndarray:
        """(…,) from sums (…, K)."""
        ...

    def value(self, table_RK: np.ndarray) -> float:
        return float(self.of(table_RK.sum(axis=0)))

    def drawn(self, table_RK: np.ndarray, times_DR: np.ndarray) -> np.ndarray:
        return self.of(times_DR @ table_RK)

    def exchanged(self, a_RK: np.ndarray, b_RK: np.ndarray, from_b_DR: np.ndarray) -> np.ndarray:
        return self.of(a_RK.sum(axis=0) + from_b_DR @ (b_RK - a_RK))

    def interval(self, table_RK: np.ndarray) -> tuple[float, float] | None:
        return None

    def pooled(self, table_RK: np.ndarray, most: int) -> np.ndarray:
        rows = len(table_RK)
        return table_RK if rows <= most else np.add.reduceat(table_RK, np.arange(most) * rows // most, axis=0)


class OfUnits(Measure):
    """A measure that needs the units themselves, such as a correlation of ranks."""

    def drawn(self, table_RK: np.ndarray, times_DR: np.ndarray) -> np.ndarray:
        return np.array([self.value(np.repeat(table_RK, times.astype(np.int64), axis=0)) for times in times_DR])

    def exchanged(self, a_RK: np.ndarray, b_RK: np.ndarray, from_b_DR: np.ndarray) -> np.ndarray:
        return np.array([self.value(np.where(row[:, None] > 0, b_RK, a_RK)) for row in from_b_DR])

    def interval(self, table_RK: np.ndarray) -> tuple[float, float] | None:
        return None

    def pooled(self, table_RK: np.ndarray, most: int) -> np.ndarray:
        return table_RK
