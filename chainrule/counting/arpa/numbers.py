"""Natural logs as decimal log10: the fewest digits from which the same float32 is read back."""

from __future__ import annotations

import numpy as np

LN10 = float(np.log(10.0))
LOG10_E = float(1.0 / np.log(10.0))
ZERO = -99.0  # log10 of probability 0, as SRILM writes it; whatever is read at or below it is −∞
TINY = 1e-10  # a log10 nearer to 0 is written as 0: float32 has no probability between 1 − 6e-8 and 1
POWERS = np.array([float(f"1e{k}") for k in range(-10, 23)])  # float64 has them exactly from 10⁰ on


def to_natural(decimal: np.ndarray) -> np.ndarray:
    """float32 ln p from the log10 p that a file holds."""
    with np.errstate(over="ignore"):  # a weight beyond float32 is ∞, which is refused later
        return np.where(decimal <= ZERO, -np.inf, decimal * LN10).astype(np.float32)


def to_decimal(natural: np.ndarray) -> np.ndarray:
    """float64 log10 p with 6 to 9 digits: the first of these for which `to_natural` gives `natural` again.

    Nine always do: float32 keeps 24 bits, a relative step of at least 6e-8, and nine digits are within 5e-9.
    """
    exact = np.abs(natural.astype(np.float64)) * LOG10_E
    regular = (exact >= TINY) & (exact < -ZERO)
    size = np.where(regular, exact, 1.0)
    places = 10 - np.searchsorted(POWERS, size, side="right")  # digits after the point, less those in all
    found = np.zeros(len(size))
    missing = np.ones(len(size), bool)
    for digits in (6, 7, 8, 9):
        scale = POWERS[10 + places + digits]
        value = np.rint(size * scale) / scale
        fits = missing & ((value * LN10).astype(np.float32) == np.abs(natural))
        found[fits] = value[fits]
        missing &= ~fits
    found[~regular] = np.where(exact[~regular] < TINY, 0.0, -ZERO)
    return np.where(natural < 0, -found, found) + 0.0  # no −0
