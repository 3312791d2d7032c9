"""Logs written during training: metrics.jsonl, timings.jsonl with the clock, and what loggers make of the rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from chainrule.storage.json_text import json_text
from chainrule.training.callbacks import Callbacks
from chainrule.training.loggers._logger import Logger
from chainrule.training.state import TrainingState
from chainrule.training.workspace import METRICS, TIMINGS


class MetricsLog:
    """Rows are appended as they come, one to each file; resuming first cuts what came after the checkpoint."""

    def __init__(self, folder: Path | None, state: TrainingState, callbacks: Callbacks, *,
                 flops_per_token: float = 0.0, loggers: Sequence[Logger] = ()):
        self.callbacks, self.flops_per_token, self._loggers = callbacks, flops_per_token, list(loggers)
        if folder is None:  # of several processes one writes
            folder = Path(os.devnull)
            self._metrics, self._timings = folder.open("ab"), folder.open("ab")
            return
        path, timings = folder / METRICS, folder / TIMINGS
        path.touch()
        timings.touch()
        os.truncate(path, min(state.metrics_bytes, path.stat().st_size))
        os.truncate(timings, _length(timings, rows=path.read_bytes().count(b"\n")))
        self._metrics, self._timings = path.open("ab"), timings.open("ab")

    def row(self, state: TrainingState, facts: Mapping[str, Any], times: Mapping[str, float]) -> None:
        """One row in each file."""
        flops = round(state.tokens * self.flops_per_token)
        self._metrics.write(_line({"step": state.step, "tokens": state.tokens, "flops": flops, **facts}))
        self._metrics.flush()
        state.metrics_bytes = self._metrics.tell()
        self._timings.write(_line({"step": state.step, **{key: round(value, 3) for key, value in times.items()}}))
        self._timings.flush()
        numbers = {name: value for name, value in facts.items() if isinstance(value, int | float)}
        self._each_logger(lambda logger: logger.row(state.step, numbers))

    def sync(self) -> None:
        """Waits until the rows are on the disk."""
        for file in (self._metrics, self._timings):
            if file.name != os.devnull:
                os.fsync(file.fileno())

    def progress(self, facts: Mapping[str, Any]) -> None:
        if self.callbacks.show:
            self.callbacks.show(facts)

    def close(self) -> None:
        self._metrics.close()
        self._timings.close()
        self._each_logger(lambda logger: logger.close())

    def _each_logger(self, call: Callable[[Logger], None]) -> None:
        """A logger that fails is left out from then on; training goes on without it."""
        for logger in list(self._loggers):
            try:
                call(logger)
            except Exception as error:
                self._loggers.remove(logger)
                self.callbacks.say(f"{type(logger).__name__} failed, and gets no more rows: {type(error).__name__}: "
                                   f"{' '.join(str(error).split())}")


def _length(path: Path, rows: int) -> int:
    """Bytes of the first rows of a file."""
    with path.open("rb") as file:
        return sum(len(line) for line in islice(file, rows))


def _line(row: Mapping[str, Any]) -> bytes:
    return (json_text(row) + "\n").encode("utf-8")
