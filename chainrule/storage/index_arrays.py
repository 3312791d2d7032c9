"""Arrays that point into others, checked before compiled code follows them: a valid checksum vouches for no content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import StorageError

PIECE = 1 << 18  # numbers looked at a time: memory stays bounded, and they stay in the processor's cache


@dataclass(frozen=True)
class Arrays:
    """The named arrays of a file; what is wrong with one is an error that names both."""

    path: Path
    named: Mapping[str, np.ndarray]

    def get(self, name: str, dtype: Any, *shape: int | None) -> np.ndarray:
        """An array of this type (`np.integer` is any integer) and shape; None stands for any size."""
        if name not in self.named:
            raise StorageError(f"{self.path}: the array {name!r} is missing. Restore the file from a copy.")
        found = self.named[name]
        if not np.issubdtype(found.dtype, dtype):
            raise self.broken(name, f"holds {found.dtype.name}, expected {dtype.__name__}")
        sizes = zip(found.shape, shape, strict=False)
        if len(found.shape) != len(shape) or any(own != size for own, size in sizes if size is not None):
            expected = " × ".join("any" if size is None else f"{size:,}" for size in shape)
            raise self.broken(name, f"has the shape {' × '.join(f'{own:,}' for own in found.shape)}, expected "
                                    f"{expected}")
        return found

    def only(self, names: set[str]) -> None:
        """Refuses arrays with other names."""
        if odd := sorted(self.named.keys() - names):
            raise self.broken(odd[0], "is unknown")

    def below(self, name: str, limit: int) -> None:
        """0 ≤ x < limit."""
        for _, piece in pieces(self.named[name]):
            if int(piece.min()) < 0 or int(piece.max()) >= limit:
                raise self.broken(name, f"points outside its target, expected 0 to {limit - 1:,}")

    def offsets(self, name: str, total: int) -> None:
        """0 = x₀ ≤ x₁ ≤ … ≤ x_n = total."""
        found = self.named[name]
        if not len(found) or int(found[0]) != 0 or int(found[-1]) != total:
            raise self.broken(name, f"does not run from 0 to {total:,}")
        for low, piece in pieces(found):
            if (piece[1:] < piece[:-1]).any() or (low and piece[0] < found[low - 1]):
                raise self.broken(name, "falls, expected offsets that never do")

    def rising(self, name: str, starts: np.ndarray) -> None:
        """x_{i−1} < x_i, but where i is among the starts, which are offsets into it."""
        found = self.named[name]
        for low, piece in pieces(found):
            free = np.zeros(len(piece), bool)
            first, last = np.searchsorted(starts, np.array([low, low + len(piece)], starts.dtype))
            free[starts[first:last] - starts.dtype.type(low)] = True
            if not (free[1:] | (piece[1:] > piece[:-1])).all() or not (
                    low == 0 or free[0] or piece[0] > found[low - 1]):
                raise self.broken(name, "is not sorted")

    def broken(self, name: str, what: str) -> StorageError:
        """The error."""
        return StorageError(f"{self.path}: the array {name!r} {what}. The file is damaged or was made by hand: restore "
                            "it from a copy, or train again.")


def pieces(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The array a piece at a time, and where each begins."""
    for low in range(0, len(array), PIECE):
        yield low, np.asarray(array[low : low + PIECE])
