"""Threads: NumPy and `nogil` kernels release the GIL, and such kernels compile faster than `parallel=True`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

Piece = TypeVar("Piece")


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(work: Callable[[Piece], None], pieces: Iterable[Piece]) -> None:
    """work(piece) for every piece, on all cores."""
    waiting = list(pieces)
    if len(waiting) <= 1 or cores() == 1:
        for piece in waiting:
            work(piece)
        return
    with ThreadPoolExecutor(cores()) as pool:
        for _ in pool.map(work, waiting):  # raises what a worker raised
            pass


def frozen(array: np.ndarray) -> np.ndarray:
    """A plain read-only view: memory-mapped and ordinary arrays then share one compiled kernel."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
