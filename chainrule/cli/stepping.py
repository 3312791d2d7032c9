"""While the library works: which step it is at, for the person at a terminal and for a log file."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chainrule.cli import console

log = logging.getLogger("chainrule.steps")


@contextmanager
def shown_steps() -> Iterator[None]:
    """Follows the steps that a job tells of as they begin; what is said meanwhile stands above the bar."""
    with _in_terminal() if sys.stderr.isatty() else _in_log_file() as show:
        follower = _Follower(show)
        log.addHandler(follower)
        log.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            log.removeHandler(follower)


@contextmanager
def _in_terminal() -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda step: bar.reset(task, description=step)


@contextmanager
def _in_log_file() -> Iterator[Callable[[str], None]]:
    """Nothing for quick work; otherwise a line where a step begins, not more often than every QUIET_SECONDS."""
    began = said = time.monotonic()

    def show(step: str) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= console.QUIET_SECONDS:
            said = now
            console.say(f"{step}, after {now - began:.0f} s.")

    yield show


class _Follower(logging.Handler):
    def __init__(self, show: Callable[[str], None]):
        super().__init__(logging.DEBUG)
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        self.show(record.getMessage())
