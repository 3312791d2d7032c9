"""The trials of a comparison in a terminal: one line for each, with a bar while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from chainrule.cli.terminal.controls import drawing_on, visible


@contextmanager
def shown_trials() -> Iterator[Any]:
    """A `TrialProgress` that draws in a terminal; None elsewhere, where the library logs a few lines."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), TimeElapsedColumn(),
               TextColumn("{task.fields[said]}", markup=False))
    with Progress(*columns, console=Console(file=drawing_on(sys.stderr)), redirect_stdout=False) as bars:
        yield _Bars(bars)


class _Bars:
    """Tells a table of bars about trials."""

    def __init__(self, bars: Any):
        self.bars, self.tasks, self.last = bars, dict[str, Any](), dict[str, str]()

    def already(self, name: str) -> None:
        self.bars.add_task(visible(name), total=1.0, completed=1.0, said="already finished")

    def started(self, name: str) -> None:
        self.last[name], self.tasks[name] = "", self.bars.add_task(visible(name), total=None, said="")

    def came(self, name: str, facts: Mapping[str, Any], spent: str) -> None:
        self.last[name] = spent
        self.bars.update(self.tasks[name], total=1.0, completed=facts["progress"], said=spent)

    def measuring(self, name: str) -> None:
        self.bars.update(self.tasks[name], said="measuring")

    def ended(self, name: str, failure: str | None) -> None:
        said = self.last[name].partition(", ")[2] if failure is None else f"failed: {visible(failure)}"
        self.bars.update(self.tasks[name], total=1.0, completed=1.0 if failure is None else None, said=said)
        self.bars.stop_task(self.tasks[name])
