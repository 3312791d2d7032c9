"""What a command prints: results on standard output, all else on standard error; one JSON object with --json."""

from __future__ import annotations

import logging
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.controls import drawing_on, show_controls, visible, visible_on
from chainrule.storage.json_text import json_text

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object; all else goes to standard error.")]
QUIET_SECONDS = 10.0  # between two plain progress lines


def emit(data: Mapping[str, Any], json: bool, human: Callable[[Any], None]) -> None:
    """Prints the result: as exactly one JSON object, or by calling `human(data)`. NaN and infinities become null."""
    if json:
        print(json_text(data))
    else:
        human(data)


def say(text: str) -> None:
    """A message on standard error; each of its lines begins with `chainrule:`."""
    lines = visible_on(sys.stderr, text).split("\n")
    print("\n".join(f"chainrule: {line}" for line in lines), file=sys.stderr, flush=True)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Aligned columns on standard output; numbers are right-aligned, and the last text column has any width."""
    cells = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(headers, *cells, strict=True)]
    right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headers))]
    for line in [list(headers), *cells]:
        padded = [" " * (w - _width(c)) + c if r else c + " " * (w - _width(c))
                  for c, w, r in zip(line, widths, right, strict=True)]
        print(_fitted("  ".join(padded).rstrip(), indent=sum(widths[:-1]) + 2 * len(widths[:-1])))


def _fitted(line: str, indent: int) -> str:
    """In a terminal the last column is wrapped between words; in a pipe a row is one line."""
    room = shutil.get_terminal_size().columns - indent
    if not sys.stdout.isatty() or len(line) <= indent or room < 20:
        return line
    return line[:indent] + ("\n" + " " * indent).join(textwrap.wrap(line[indent:], room, break_on_hyphens=False))


def _shown(cell: object) -> str:
    text = f"{cell:,.4g}" if isinstance(cell, float) else f"{cell:,}" if type(cell) is int else str(cell)
    return visible_on(sys.stdout, text)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


@contextmanager
def progress(what: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """`with progress("counting", total) as step: step(amount)`: a bar in a terminal, elsewhere a line now and then."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress

        with Progress(console=Console(file=drawing_on(sys.stderr)), transient=True) as bar:
            task = bar.add_task(escape(visible(what)), total=total)
            yield partial(bar.advance, task)
    else:
        yield _Lines(what, total).step


class _Lines:
    """Progress for a log file: nothing for quick work, then a line every QUIET_SECONDS."""

    def __init__(self, what: str, total: float | None):
        self.what, self.total, self.done = what, total, 0.0
        self.started = self.said = time.monotonic()

    def step(self, amount: float = 1) -> None:
        self.done += amount
        now = time.monotonic()
        if now - self.said >= QUIET_SECONDS:
            self.said = now
            share = f"{100 * self.done / self.total:.0f} %" if self.total else f"{self.done:,.0f}"
            say(f"{self.what}: {share} after {now - self.started:.0f} s")


def show_log_messages() -> None:
    """Prints messages of the `chainrule` logger; what a terminal cannot show, or would obey, is printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    show_controls()
    logger = logging.getLogger("chainrule")
    if not any(isinstance(handler, _MessageHandler) for handler in logger.handlers):
        logger.addHandler(_MessageHandler(logging.INFO))
        logger.setLevel(logging.INFO)


@contextmanager
def quiet() -> Iterator[None]:
    """Inside the block, messages of the library are not shown; errors are."""
    logger = logging.getLogger("chainrule")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


class _MessageHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())
