"""What training tells while it runs: metrics.jsonl without a clock, timings.jsonl with one, TensorBoard if there."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from chainrule.storage.json_text import json_text
from chainrule.training.course import Course
from chainrule.training.workspace import METRICS, TIMINGS

Show = Callable[[Mapping[str, Any]], None]  # gets the facts of the last step: loss, tokens per second, seconds left, …


class Journal:
    """Rows are appended as they come, one to each file; a resumed training first cuts what its checkpoint knows not."""

    def __init__(self, folder: Path, course: Course, show: Show | None, *, flops_per_token: float = 0.0,
                 board: bool = True):
        self.show, self.flops_per_token = show, flops_per_token
        path, timings = folder / METRICS, folder / TIMINGS
        path.touch()
        timings.touch()
        os.truncate(path, min(course.metrics_bytes, path.stat().st_size))
        os.truncate(timings, _length(timings, rows=path.read_bytes().count(b"\n")))
        self._metrics, self._timings = path.open("ab"), timings.open("ab")
        self._board = _tensorboard(folder / "tensorboard", course.step) if board else None

    def row(self, course: Course, facts: Mapping[str, Any], times: Mapping[str, float]) -> None:
        """One row in each file."""
        flops = round(course.tokens * self.flops_per_token)
        self._metrics.write(_line({"step": course.step, "tokens": course.tokens, "flops": flops, **facts}))
        self._metrics.flush()
        course.metrics_bytes = self._metrics.tell()
        self._timings.write(_line({"step": course.step, **{key: round(value, 3) for key, value in times.items()}}))
        self._timings.flush()
        if self._board:
            for name, value in facts.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(name, value, course.step)

    def settle(self) -> None:
        """Waits until the rows are on the disk."""
        os.fsync(self._metrics.fileno())
        os.fsync(self._timings.fileno())

    def progress(self, facts: Mapping[str, Any]) -> None:
        if self.show:
            self.show(facts)

    def close(self) -> None:
        self._metrics.close()
        self._timings.close()
        if self._board:
            self._board.close()


def peak_memory() -> int:
    """Bytes of the process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _length(path: Path, rows: int) -> int:
    """Bytes of the first rows of a file."""
    with path.open("rb") as file:
        return sum(len(line) for line in islice(file, rows))


def _line(row: Mapping[str, Any]) -> bytes:
    return (json_text(row) + "\n").encode("utf-8")


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step)
