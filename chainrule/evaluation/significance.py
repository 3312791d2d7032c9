"""How sure a number is: bootstrap intervals, and a paired bootstrap for the difference of two models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.errors import OptionError

AT_ONCE = 1 << 21  # drawn numbers held in memory at a time
MOST_GROUPS = 20_000  # past this many units, neighbors are pooled: the interval stays, the time does not grow


def resampled_sums(values_RC: np.ndarray, *, draws: int, seed: int) -> np.ndarray:
    """(draws, C): column sums of R rows drawn with replacement, `draws` times.

    Rows are independent units of text; columns are what a statistic is the ratio of, so both are drawn together.
    Efron 1979, "Bootstrap methods: another look at the jackknife".
    """
    if draws < 1:
        raise OptionError("bootstrap", draws, "at least 1 draw", "0 leaves the interval out.")
    values_RC = pooled(np.asarray(values_RC, dtype=np.float64))
    rows = len(values_RC)
    rng = np.random.default_rng(seed)
    sums = np.empty((draws, values_RC.shape[1]))
    step = max(1, AT_ONCE // max(1, rows))
    for first in range(0, draws, step):
        drawn = rng.integers(0, rows, size=(min(step, draws - first), rows))
        for column, values_R in enumerate(values_RC.T):
            sums[first : first + step, column] = values_R[drawn].sum(axis=1)
    return sums


def pooled(values_RC: np.ndarray) -> np.ndarray:
    """At most MOST_GROUPS rows: sums over runs of neighboring rows, which also keeps what neighbors share."""
    rows = len(values_RC)
    if rows <= MOST_GROUPS:
        return values_RC
    return np.add.reduceat(values_RC, np.arange(MOST_GROUPS) * rows // MOST_GROUPS, axis=0)


def percentile_interval(statistics: np.ndarray, coverage: float = 0.95) -> tuple[float, float]:
    """The statistics' own percentiles, without interpolating: an infinite perplexity stays infinite."""
    tails = [(1 - coverage) / 2, (1 + coverage) / 2]
    low, high = np.quantile(statistics, tails, method="inverted_cdf")
    return float(low), float(high)


@dataclass(frozen=True)
class Difference:
    """Loss of a − loss of b per token or byte; below zero where a is better. `p_value` is two-sided."""

    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(a_R: np.ndarray, b_R: np.ndarray, size_R: np.ndarray, *, draws: int = 1000,
                     seed: int = 0) -> Difference:
    """Are two models' losses on the same units different by more than the choice of units explains?

    Δ = Σ_r (a_r − b_r) / Σ_r size_r, redrawn with replacement; Koehn 2004, "Statistical significance tests for
    machine translation evaluation", §3. `size_R` has the tokens of each unit, or its bytes where the tokens differ.
    """
    a_R, b_R, size_R = (np.asarray(x, dtype=np.float64) for x in (a_R, b_R, size_R))
    if not len(a_R) == len(b_R) == len(size_R) or len(a_R) == 0:
        raise OptionError("paired_bootstrap units", (len(a_R), len(b_R), len(size_R)), "three equal counts above 0",
                          "Both models must have scored the same units.")
    gap_R = a_R - b_R
    if not np.isfinite(gap_R).all():
        raise OptionError("paired_bootstrap losses", float("inf"), "finite ones",
                          "A model that calls a unit impossible cannot be compared by its average loss.")
    sums = resampled_sums(np.stack([gap_R, size_R], axis=1), draws=draws, seed=seed)
    drawn = sums[:, 0] / sums[:, 1]
    tail = min((drawn <= 0).sum(), (drawn >= 0).sum())
    low, high = percentile_interval(drawn)
    p_value = min(1.0, 2 * (int(tail) + 1) / (draws + 1))
    return Difference(float(gap_R.sum() / size_R.sum()), low, high, p_value)
