"""Progress of the library: its current step, in a terminal and in a log file."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chainrule.cli.terminal import console
from chainrule.cli.terminal.controls import drawing_on, visible
from chainrule.progress import Facts, Follower, measured

log = logging.getLogger("chainrule.steps")


@contextmanager
def shown_steps(first: str = "starting") -> Iterator[Callable[[Facts], None]]:
    """Shows each step as it begins; messages are printed above the progress bar.

    A family that trains for long reports its progress by calling the function that the block receives.
    """
    with _in_terminal(first) if sys.stderr.isatty() else _in_log_file() as (show, measure):
        follower, before = Follower(show), log.level
        log.addHandler(follower)
        log.setLevel(logging.DEBUG)
        try:
            yield measure
        finally:
            log.removeHandler(follower)
            log.setLevel(before)


@contextmanager
def _in_terminal(first: str) -> Iterator[tuple[Callable[[str], None], Callable[[Facts], None]]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(file=drawing_on(sys.stderr)), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(visible(first), total=None)

        def measure(facts: Facts) -> None:
            bar.update(task, total=1.0, completed=facts["progress"], description=f"training: {measured(facts)}")

        def begin(step: str) -> None:
            bar.tasks[0].total = None  # its length is unknown
            bar.reset(task, description=visible(step))

        yield begin, measure


@contextmanager
def _in_log_file() -> Iterator[tuple[Callable[[str], None], Callable[[Facts], None]]]:
    """Nothing for quick work; otherwise a line where a step begins, not more often than every QUIET_SECONDS."""
    began = said = time.monotonic()

    def show(step: str) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= console.QUIET_SECONDS:
            said = now
            console.say(f"{step}, after {now - began:.0f} s.")

    yield show, lambda facts: show(f"training: {100 * facts['progress']:.0f} %, {measured(facts)}")
