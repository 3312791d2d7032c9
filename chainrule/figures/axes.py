"""Axes: from values to pixels, linear or logarithmic, with round numbers beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """From values to pixels; `ticks` are the values that are written beside it."""

    low: float
    high: float
    begin: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        low, high, here = (math.log10(v) for v in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value)
        return self.begin + (self.end - self.begin) * (here - low) / (high - low)


def can_be_shown(value: float | None, log: bool = False) -> bool:
    """Whether a value has a place on an axis."""
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def axis(values: Sequence[float], begin: float, end: float, *, log: bool = False) -> Axis:
    """An axis that has room for all values."""
    shown = [v for v in values if can_be_shown(v, log)] or [1.0]
    if log:
        least, most = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
        most = max(most, least + 1)
        apart = -(-(most - least) // 8)  # at most nine powers of ten are written
        return Axis(10.0**least, 10.0**most, begin, end, True, tuple(10.0**e for e in range(least, most + 1, apart)))
    low, high = min(shown), max(shown)
    step = _round_step((high - low) / 6)
    step = max(step, 1.0) if all(float(value).is_integer() for value in shown) else step  # between layers there is none
    ticks = tuple(step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1))
    return Axis(low, high if high > low else low + 1, begin, end, False, ticks)


def close_axis(values: Sequence[float], begin: float, end: float) -> Axis:
    """A logarithmic axis that begins and ends at its values, with each of them written."""
    shown = sorted({v for v in values if can_be_shown(v, True)}) or [1.0]
    low, high = shown[0] / 1.1, shown[-1] * 1.1
    return Axis(low, high, begin, end, True, tuple(shown))


def _round_step(least: float) -> float:
    """The next of …, 1, 2, 5, 10, … that is not below."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999)


def number(value: float) -> str:
    """`1.5 M`: a number as short as it can be."""
    for size, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " K")):
        if 1e18 > abs(value) >= size * 0.9995:
            return f"{value / (1e3 if unit == ' K' else size):.3g}{unit}"
    return f"{value:.4g}"
