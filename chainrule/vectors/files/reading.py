"""A binary file read from its start to its end, with the offset for what is wrong in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from chainrule.errors import DataError

BLOCK = 1 << 22  # bytes read at a time
LONGEST = 1 << 16  # bytes of a word: what has no end by then is no word


class Bytes:
    """What was read and not yet taken is `buffer[at:]`; `offset` is where that begins in the (unpacked) file."""

    def __init__(self, path: Path, stream: BinaryIO):
        self.path, self.stream = path, stream
        self.buffer, self.at, self.before = b"", 0, 0

    @property
    def offset(self) -> int:
        return self.before + self.at

    def more(self, wanted: int = 0) -> bool:
        """Reads on; whether there was anything."""
        data = self.stream.read(max(BLOCK, wanted))
        self.buffer, self.before, self.at = self.buffer[self.at :] + data, self.before + self.at, 0
        return bool(data)

    def take(self, size: int, what: str) -> bytes:
        """The next bytes."""
        while len(self.buffer) - self.at < size:
            if not self.more(size):
                raise self.broken(f"the file ends within {what}. It may have been cut")
        self.at += size
        return self.buffer[self.at - size : self.at]

    def until(self, mark: bytes, what: str) -> bytes:
        """The bytes before the next mark, which is passed over."""
        while (end := self.buffer.find(mark, self.at)) < 0:
            if len(self.buffer) - self.at > LONGEST:
                raise self.broken(f"{what} does not end within {LONGEST:,} bytes")
            if not self.more():
                raise self.broken(f"the file ends within {what}. It may have been cut")
        found = self.buffer[self.at : end]
        self.at = end + len(mark)
        return found

    def number(self, code: str, what: str) -> Any:
        """One number, e.g. `<i4`."""
        dtype = np.dtype(code)
        return np.frombuffer(self.take(dtype.itemsize, what), dtype)[0].item()

    def rows(self, into: np.ndarray, what: str) -> None:
        """Fills an array of float32 with the next bytes; numbers that are not finite are refused."""
        step = max(1, BLOCK // max(1, into.shape[1] * 4))
        for low in range(0, len(into), step):
            block = into[low : low + step]
            start = self.offset
            block[:] = np.frombuffer(self.take(block.nbytes, what), "<f4").reshape(block.shape)
            if not np.isfinite(block).all():
                bad = int(np.flatnonzero(~np.isfinite(block))[0])
                raise DataError(f"{self.path}: byte {start + 4 * bad:,}: {block.flat[bad]} in {what}, expected a "
                                "finite number.")

    def fill(self, into: np.ndarray, what: str) -> None:
        """Fills an array with the next bytes, whatever they are, a block at a time."""
        flat = into.reshape(-1).view(np.uint8)
        for low in range(0, len(flat), BLOCK):
            block = flat[low : low + BLOCK]
            block[:] = np.frombuffer(self.take(len(block), what), np.uint8)

    def ended(self) -> bool:
        """Whether nothing is left."""
        return len(self.buffer) == self.at and not self.more()

    def broken(self, what: str) -> DataError:
        return DataError(f"{self.path}: byte {self.offset:,}: {what}.")
