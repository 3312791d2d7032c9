"""How much memory the counts of pairs may take, and where they go when it is not enough."""

from __future__ import annotations

import logging
import mmap
from pathlib import Path

import numpy as np

from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError
from chainrule.recipe.schema import format_size, parse_size

PROGRAM = 200 << 20  # bytes that Python and the kernels take before any counting
LEAST = PROGRAM + (100 << 20)
EVENT, PAIR = 8, 16  # bytes of a pair that was met, and of a key with its sum
log = logging.getLogger("chainrule")


def memory_of(given: int | str) -> int:
    """Bytes of `500M` or `1.5G`."""
    try:
        memory = parse_size(given)
    except ValueError as error:
        raise OptionError("model.method.memory", given, str(error).removeprefix("expected ")) from None
    if memory < LEAST:
        raise OptionError("model.method.memory", given, f"at least {LEAST >> 20}M",
                          f"Python and the kernels themselves take {PROGRAM >> 20}M.")
    return memory


def scratch_for(events: int, memory: int, folder: Path | None) -> Scratch:
    """Arrays in memory if all fits; otherwise in files beside the run, which vanish with the process."""
    need = PROGRAM + events * (EVENT + PAIR)
    if need <= memory:
        return Scratch()
    log.info(f"up to {events:,} pairs of words need about {need >> 20:,} MB, model.method.memory allows "
             f"{format_size(memory)}: they are counted in pieces on the disk.")
    return Scratch(max(int(memory * 0.8), PROGRAM + (64 << 20)), folder)


def drop_pages(array: np.ndarray) -> None:
    """Drops the resident pages of a memory map that is read from front to back; they are on the disk."""
    base = array.base
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None:
        base.madvise(mmap.MADV_DONTNEED)
