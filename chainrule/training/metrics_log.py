"""Logs written during training: metrics.jsonl, timings.jsonl with the clock, and TensorBoard if it is installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from chainrule.storage.json_text import json_text
from chainrule.training.callbacks import Show
from chainrule.training.state import TrainingState
from chainrule.training.workspace import METRICS, TIMINGS


class MetricsLog:
    """Rows are appended as they come, one to each file; resuming first cuts what came after the checkpoint."""

    def __init__(self, folder: Path | None, state: TrainingState, show: Show | None, *, flops_per_token: float = 0.0,
                 board: bool = True):
        self.show, self.flops_per_token = show, flops_per_token
        if folder is None:  # of several processes one writes
            folder = Path(os.devnull)
            self._metrics, self._timings, self._board = folder.open("ab"), folder.open("ab"), None
            return
        path, timings = folder / METRICS, folder / TIMINGS
        path.touch()
        timings.touch()
        os.truncate(path, min(state.metrics_bytes, path.stat().st_size))
        os.truncate(timings, _length(timings, rows=path.read_bytes().count(b"\n")))
        self._metrics, self._timings = path.open("ab"), timings.open("ab")
        self._board = _tensorboard(folder / "tensorboard", state.step) if board else None

    def row(self, state: TrainingState, facts: Mapping[str, Any], times: Mapping[str, float]) -> None:
        """One row in each file."""
        flops = round(state.tokens * self.flops_per_token)
        self._metrics.write(_line({"step": state.step, "tokens": state.tokens, "flops": flops, **facts}))
        self._metrics.flush()
        state.metrics_bytes = self._metrics.tell()
        self._timings.write(_line({"step": state.step, **{key: round(value, 3) for key, value in times.items()}}))
        self._timings.flush()
        if self._board:
            for name, value in facts.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(name, value, state.step)

    def sync(self) -> None:
        """Waits until the rows are on the disk."""
        for file in (self._metrics, self._timings):
            if file.name != os.devnull:
                os.fsync(file.fileno())

    def progress(self, facts: Mapping[str, Any]) -> None:
        if self.show:
            self.show(facts)

    def close(self) -> None:
        self._metrics.close()
        self._timings.close()
        if self._board:
            self._board.close()


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
