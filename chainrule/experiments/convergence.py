"""Whether a training had much left to learn when its budget ended, by the evidence of its own curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FEW_STEPS = 20
HALF = 0.5  # of the tokens: schedules that end at a rate of 0 flatten the last quarter of any curve
FALLING = 0.05  # of the bits per byte: a curve that falls by more in its second half is far from its end
POINTS = 3  # of a curve, at least


def still_falling(runs: Sequence[Path]) -> float | None:
    """The share by which bits per byte fell in the second half, the mean over seeds; None without enough points."""
    from chainrule.training.curve import curve

    found = [fall for run in runs if (fall := fall_at_end(curve(run))) is not None]
    return float(np.mean(found)) if found else None


def fall_at_end(points: Sequence[Mapping[str, Any]]) -> float | None:
    """1 − y(end) / y(half of the tokens) of the validation curve, or if that is too short of the training curve."""
    for key in ("valid_bits_per_byte", "bits_per_byte"):
        known = [(point["tokens"], point[key]) for point in points if point.get(key) is not None]
        if len(known) >= POINTS and known[0][0] <= HALF * known[-1][0]:
            tokens, bits = np.array(known, np.float64).T
            return float(1 - bits[-1] / np.interp(HALF * tokens[-1], tokens, bits))
    return None


def unconverged(row: Mapping[str, Any]) -> bool:
    """Whether a larger budget would have made the row better by much."""
    return row["steps"] is not None and (row["steps"] < FEW_STEPS or (row["still_falling"] or 0.0) > FALLING)


def far_from_end(row: Mapping[str, Any]) -> str | None:
    """A note about such a row."""
    if not unconverged(row):
        return None
    steps = f"{row['steps']:,} step{'s' if row['steps'] != 1 else ''}"
    why = (f"its curve still fell by {row['still_falling']:.1%} in the second half of its {steps}"
           if row["still_falling"] is not None and row["still_falling"] > FALLING else
           f"it made {steps} within the budget, too few to learn much")
    return f"{row['name']} was far from converged: {why}. Its number does not show how good the recipe is."
