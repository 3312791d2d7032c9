"""Models by a measure over the same units: an interval of each, and which differences are more than chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainrule.evaluation.measures._measure import Measure
from chainrule.evaluation.significance import AT_ONCE, MOST, Difference, holm

DRAWS = 2_000
LEAST = 4  # units needed for an interval
LEVEL, COVERAGE = 0.05, 0.95
EQUAL = 1e-12  # differences that are one number up to rounding


@dataclass(frozen=True)
class Column:
    """A number that stands beside the measure."""

    label: str
    digits: int = 4


@dataclass(frozen=True)
class Answers:
    """What a model did on each unit, as the measure reads it; a row of NaN is a unit that it could not answer."""

    table: np.ndarray  # (R, K)
    beside: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def known(self) -> np.ndarray:
        """(R,) which units it could answer."""
        return np.isfinite(self.table).all(axis=1)


@dataclass(frozen=True)
class Entry:
    """A model: a table for each of its seeds, all over the same units."""

    name: str
    tables: tuple[np.ndarray, ...]

    def value(self, measure: Measure) -> float:
        """The mean over the seeds."""
        return float(np.mean([measure.value(table) for table in self.tables]))


def intervals(entries: Sequence[Entry], measure: Measure, *, draws: int = DRAWS, seed: int = 0
              ) -> list[list[float] | None]:
    """θ ± c, c the 95 % quantile of |θ* − θ| over resamples of the units, or the measure's own equation.

    Efron 1979: units are drawn with replacement, whole; with several seeds θ is their mean. None for very few units.
    """
    return [_of_one(each, measure, draws, seed) for each in entries]


def _of_one(entry: Entry, measure: Measure, draws: int, seed: int) -> list[float] | None:
    if len(entry.tables[0]) < LEAST or math.isnan(value := entry.value(measure)):
        return None
    known = measure.interval(np.mean(entry.tables, axis=0))
    if known is not None:
        return list(known)
    tables = [measure.pooled(table, MOST) for table in entry.tables]
    found = np.concatenate([np.mean([measure.drawn(table, times) for table in tables], axis=0)
                            for times in _resamples(len(tables[0]), draws, seed)])
    return _around(value, found, measure.bounds)


def compared(entries: Sequence[Entry], measure: Measure, *, draws: int = DRAWS, seed: int = 0) -> list[dict[str, Any]]:
    """Every pair, a − b, with a paired bootstrap interval and p of a paired permutation test.

    Under the null hypothesis a unit's two results could as well be exchanged: p is the share of random exchanges, this
    one among them, whose difference is at least as large. Noreen 1989, "Computer-intensive methods for testing
    hypotheses", §2; Yeh 2000, arXiv:cs/0008005. `significant` is corrected for the number of pairs (Holm).
    """
    couples = list(itertools.combinations(entries, 2))
    found = [_pair(a, b, measure, draws, seed) for a, b in couples]
    for pair, p in zip(found, holm([each["p_value"] for each in found]), strict=True):
        pair |= {"p_holm": p, "significant": p < LEVEL and pair["low"] is not None}
    return found


def _pair(a: Entry, b: Entry, measure: Measure, draws: int, seed: int) -> dict[str, Any]:
    found = gap(a, b, measure, draws=draws, seed=seed)
    low, high = (None, None) if math.isnan(found.low) else (found.low, found.high)
    return {"a": a.name, "b": b.name, "difference": found.difference, "low": low, "high": high,
            "p_value": found.p_value}


def gap(a: Entry, b: Entry, measure: Measure, *, draws: int = DRAWS, seed: int = 0) -> Difference:
    """One pair, a − b, as `compared` has it; NaN is an end of an interval that there is not."""
    both = _side_by_side(a, b, measure)
    difference = a.value(measure) - b.value(measure)
    rows = len(both[0][0])
    if math.isnan(difference) or rows < LEAST:
        return Difference(difference, math.nan, math.nan, 1.0)
    gaps = np.concatenate([np.mean([measure.drawn(one, times) - measure.drawn(other, times) for one, other in both],
                                   axis=0) for times in _resamples(rows, draws, seed)])
    width = measure.bounds[1] - measure.bounds[0]
    low, high = _around(difference, gaps, (-width, width)) or (math.nan, math.nan)
    known = gaps[np.isfinite(gaps)]
    return Difference(difference, low, high, _p_value(both, difference, measure, draws, seed),
                      float(known.std(ddof=1)) if len(known) > 1 else math.nan)


def _p_value(both: Sequence[tuple[np.ndarray, np.ndarray]], difference: float, measure: Measure, draws: int, seed: int
             ) -> float:
    rows, reached, count = len(both[0][0]), 0, 0
    for swaps in _exchanges(rows, draws, seed):
        gaps = np.mean([measure.exchanged(one, other, swaps) - measure.exchanged(other, one, swaps)
                        for one, other in both], axis=0)
        gaps = gaps[~np.isnan(gaps)]
        reached += int((np.abs(gaps) >= abs(difference) - EQUAL).sum())
        count += len(gaps)
    exact = 1 << rows <= draws  # all exchanges there are, this one among them
    return reached / count if exact else (reached + 1) / (count + 1)


def _side_by_side(a: Entry, b: Entry, measure: Measure) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of tables, each seed as often as any other of its model; a model without seeds has one table."""
    count = math.lcm(len(a.tables), len(b.tables))
    return [(measure.pooled(a.tables[n % len(a.tables)], MOST), measure.pooled(b.tables[n % len(b.tables)], MOST))
            for n in range(count)]


def _around(value: float, drawn: np.ndarray, bounds: tuple[float, float]) -> list[float] | None:
    known = drawn[np.isfinite(drawn)]
    if len(known) < len(drawn) / 2:  # mostly undefined: too few units for this measure
        return None
    half = float(np.quantile(np.abs(known - value), COVERAGE, method="inverted_cdf"))
    return [max(bounds[0], value - half), min(bounds[1], value + half)]


def _resamples(rows: int, draws: int, seed: int) -> Any:
    """(D, R) pieces: how often each unit is drawn."""
    rng, step = np.random.default_rng(seed), max(1, AT_ONCE // rows)
    for first in range(0, draws, step):
        count = min(step, draws - first)
        places = rng.integers(0, rows, size=(count, rows)) + np.arange(count)[:, None] * rows
        yield np.bincount(places.ravel(), minlength=count * rows).reshape(count, rows).astype(np.float64)


def _exchanges(rows: int, draws: int, seed: int) -> Any:
    """(D, R) pieces of 0 and 1: which units are exchanged; every way where there are not more than `draws`."""
    if 1 << rows <= draws:
        yield (np.arange(1 << rows)[:, None] >> np.arange(rows) & 1).astype(np.float64)
        return
    rng, step = np.random.default_rng([seed, 1]), max(1, AT_ONCE // rows)
    for first in range(0, draws, step):
        yield rng.integers(0, 2, size=(min(step, draws - first), rows)).astype(np.float64)
