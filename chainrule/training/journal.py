"""What training tells while it runs: metrics.jsonl without a clock, timings.jsonl with one, TensorBoard if there."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from chainrule.plain import plain_json
from chainrule.training.course import Course
from chainrule.training.workspace import METRICS, TIMINGS

Show = Callable[[Mapping[str, Any]], None]  # gets the facts of the last step: loss, tokens per second, seconds left, …


class Journal:
    """Rows are appended as they come; a resumed training first cuts what its checkpoint does not know."""

    def __init__(self, folder: Path, course: Course, show: Show | None):
        self.show = show
        path = folder / METRICS
        path.touch()
        os.truncate(path, min(course.metrics_bytes, path.stat().st_size))
        self._metrics, self._timings = path.open("ab"), (folder / TIMINGS).open("ab")
        self._board = _tensorboard(folder / "tensorboard", course.step)

    def row(self, course: Course, facts: Mapping[str, Any], times: Mapping[str, float]) -> None:
        """One row in each file."""
        self._metrics.write(_line({"step": course.step, "tokens": course.tokens, **facts}))
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

    def progress(self, facts: Mapping[str, Any]) -> None:
        if self.show:
            self.show(facts)

    def close(self) -> None:
        self._metrics.close()
        self._timings.close()
        if self._board:
            self._board.close()


def peak_memory(device: torch.device) -> int:
    """Bytes: of the GPU where it computes, otherwise of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _line(row: Mapping[str, Any]) -> bytes:
    return (plain_json(row) + "\n").encode("utf-8")


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step)
