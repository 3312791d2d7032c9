"""Working arrays: in memory, or in files that vanish with the process when memory is limited."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from pathlib import Path

import numpy as np


class Scratch:
    """`empty` gives arrays; with a `limit` (bytes) they lie in unlinked files and `relax` keeps the process below it.

    Pages of such files are dropped from the process, not lost: they are read again when touched. An unlinked file
    needs no cleaning after `kill -9`.
    """

    def __init__(self, limit: int | None = None, folder: Path | None = None):
        self.limit, self._folder = limit, folder
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # freed with the last array that uses them

    def empty(self, size: int, dtype: type) -> np.ndarray:
        """An array of `size`, content undefined (zeros when in a file)."""
        if self.limit is None or size == 0:
            return np.empty(size, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            length = size * np.dtype(dtype).itemsize
            try:  # a full disk is an error here, not a crash at a later write
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, length)
                else:
                    file.truncate(length)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._folder or tempfile.gettempdir())) from None
            array = np.memmap(file, dtype, mode="r+", shape=size)
        assert isinstance(array.base, mmap.mmap)
        self._maps.add(array.base)
        return np.asarray(array)

    def zeros(self, size: int, dtype: type) -> np.ndarray:
        array = self.empty(size, dtype)
        if self.limit is None:
            array[:] = 0
        return array

    def relax(self, need: int = 0) -> None:
        """Drops resident pages if the process would grow past the limit with `need` more bytes."""
        if self.limit is not None and resident() + need > self.limit:
            for mapped in list(self._maps):
                mapped.madvise(mmap.MADV_DONTNEED)


def resident() -> int:
    """Bytes of memory this process holds now (0 if the system does not say)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0
