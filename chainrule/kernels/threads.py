"""Kernels that release the GIL, run on ranges side by side; compiling them is many times quicker than `parallel=True`."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_ranges(work: Callable[[int, int], None], total: int, piece: int) -> None:
    """work(low, high) for every range of `piece` below `total`, on all cores."""
    lows = range(0, total, piece)
    if len(lows) <= 1 or cores() == 1:
        for low in lows:
            work(low, min(low + piece, total))
        return
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(lambda low: work(low, min(low + piece, total)), lows))


def frozen(array: np.ndarray) -> np.ndarray:
    """A plain read-only view: memory-mapped and ordinary arrays then share one compiled kernel."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
