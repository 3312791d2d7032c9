"""Intervals of every row, and which differences between two rows are significant."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.evaluation.significance import Difference, holm, studentized
from chainrule.experiments.losses import Units
from chainrule.experiments.standings import Standing, finite, of_loss

LEVEL = 0.05


def put_intervals(standings: Sequence[Standing], units: Units) -> list[dict[str, Any]]:
    """Sets the interval of each row, and returns all pairs: a − b in bits per byte, below zero where a is better.

    Units of text are drawn with replacement, the same for all rows and pairs; with several seeds the losses are means
    over the seeds.
    """
    compared = [each for each in standings if each.unit_bits is not None]
    if not compared:
        return []
    couples = list(itertools.combinations(range(len(compared)), 2))
    own = [np.asarray(each.unit_bits) for each in compared]
    columns = np.stack([*own, *(own[a] - own[b] for a, b in couples)], axis=1)
    found = studentized(columns, units.bytes.astype(np.float64))
    for each, interval in zip(compared, found, strict=False):
        each.row["interval"] = of_loss(interval)
    names = [each.row["name"] for each in compared]
    return tested([(names[a], names[b]) for a, b in couples], found[len(compared):])


def tested(couples: Sequence[tuple[str, str]], gaps: Sequence[Difference]) -> list[dict[str, Any]]:
    """Each pair of names with its difference; `significant` is corrected for the number of pairs (Holm)."""
    pairs = []
    for (a, b), gap, p in zip(couples, gaps, holm([gap.p_value for gap in gaps]), strict=True):
        low, high = finite(gap) or (None, None)
        pairs.append({"a": a, "b": b, "difference": gap.difference, "low": low, "high": high,
                      "p_value": gap.p_value, "p_holm": p, "significant": p < LEVEL and low is not None})
    return pairs
