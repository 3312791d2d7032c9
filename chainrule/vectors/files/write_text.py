"""Vectors as text, in a stream: each number with the fewest digits that round-trip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.storage.files import created

NUMBERS = 1 << 18  # formatted at a time
JIT_PAYS_FROM = 1_000_000  # numbers: Python writes them in about the time in which the kernel is loaded
LOWEST, HIGHEST = -60, 70  # powers of ten that float32 and its nine digits need; the last are for 0
POWERS = np.array([float(f"1e{n}") for n in range(LOWEST, HIGHEST + 1)])
Lines = Callable[[list[str], np.ndarray], bytes]


def write_text(path: Path, words: Sequence[str], table: np.ndarray, *, header: bool) -> None:
    """`word number … number` a line, whole or not at all; compressed if the name ends in .gz."""
    lines: Lines = PlainLines() if table.size < JIT_PAYS_FROM else _quick()
    step = max(1, NUMBERS // table.shape[1])
    with created(path) as write:
        if header:
            write(b"%d %d\n" % table.shape)
        for low in range(0, len(table), step):
            rows = np.ascontiguousarray(table[low : low + step], np.float32)
            write(lines(list(words[low : low + step]), rows))


class PlainLines:
    """Lines by Python's own formatting; `kernels.vectors_files.FastLines` gives the same bytes."""

    def __call__(self, words: list[str], rows: np.ndarray) -> bytes:
        line = "%s " + " ".join(["%.9g"] * rows.shape[1]) + "\n"
        pairs = zip(words, shortest(rows).tolist(), strict=True)
        return "".join([line % (word, *numbers) for word, numbers in pairs]).encode()


def shortest(values: np.ndarray) -> np.ndarray:
    """float64: for each float32 a decimal number of 6 to 9 digits, the fewest that round-trip."""
    size = np.abs(values.astype(np.float64))
    before = np.searchsorted(POWERS, size, side="right") + LOWEST  # digits before the point: 1 for 1 ≤ size < 10
    found = size.copy()
    for digits in (9, 8, 7, 6):
        scale = POWERS[digits - before - LOWEST]
        rounded = np.rint(size * scale) / scale
        found = np.where(rounded.astype(np.float32) == size.astype(np.float32), rounded, found)
    return np.copysign(found, values)


def _quick() -> Any:
    from chainrule.kernels.vectors_files import FastLines

    return FastLines()
