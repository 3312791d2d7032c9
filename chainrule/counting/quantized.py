"""Numbers in 16 bits each, with one codebook for an array: the compact form of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

CODES = 1 << 16
SAMPLE = 1 << 21  # numbers that the codebook is made from
CHUNK = 1 << 18


@dataclass(frozen=True)
class Quantized:
    """An array of numbers that are read as book[codes]; indexing gives floats, as an array of floats would."""

    codes: np.ndarray  # uint16 (n,)
    book: np.ndarray  # float32 (≤ 65536,), ascending

    def __getitem__(self, where: Any) -> Any:
        return self.book[self.codes[where]]

    def __len__(self) -> int:
        return len(self.codes)

    def astype(self, dtype: type) -> np.ndarray:
        return self[:].astype(dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)


def quantized(values: np.ndarray) -> Quantized:
    """The same numbers in 16 bits each; where there are at most 65,536 distinct ones nothing is lost."""
    book = _codebook(values)
    codes = np.empty(len(values), np.uint16)
    wide = book.astype(np.float64)
    middles = (wide[1:] + wide[:-1]) / 2
    if len(book) > 1 and np.isneginf(book[0]):
        middles[0] = np.finfo(np.float32).min  # only −∞ itself is coded as −∞
    for low in range(0, len(values), CHUNK):
        codes[low:low + CHUNK] = np.searchsorted(middles, values[low:low + CHUNK])
    return Quantized(codes, book)


def _codebook(values: np.ndarray) -> np.ndarray:
    """Every distinct number if they fit. Else half the codes follow where the numbers are dense, and half lie evenly
    from the smallest to the largest, so that no number is far from its code."""
    step = max(1, len(values) // SAMPLE)
    sample = np.unique(np.asarray(values[::step]))
    if step == 1 and len(sample) <= CODES:
        return sample
    finite = np.sort(np.asarray(values[::step]))
    finite = finite[np.isfinite(finite)]
    low, high = _range(values)
    half = (CODES - 1) // 2
    dense = finite[np.linspace(0, len(finite) - 1, half).astype(np.int64)] if len(finite) else finite
    book = np.unique(np.concatenate([dense, np.linspace(low, high, half, dtype=np.float32)]))
    return np.concatenate([[-np.inf], book]).astype(np.float32)


def _range(values: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest finite number, a piece at a time; 0 where there is none."""
    ends = []
    for low in range(0, len(values), CHUNK):
        piece = values[low:low + CHUNK]
        finite = piece[np.isfinite(piece)]
        ends += [finite.min(), finite.max()] if len(finite) else []
    return (float(min(ends)), float(max(ends))) if ends else (0.0, 0.0)
