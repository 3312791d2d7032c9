"""The sources that a command names: texts as arguments, the lines of a file or of standard input, or files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.piped import is_text
from chainrule.errors import DataError, UsageError

AT_ONCE = 256  # lines that are translated before they are printed


def sources_of(run: Any, given: Sequence[str]) -> Iterator[list[str]]:
    """Sources, some at a time, so that a long input is answered as it goes."""
    from chainrule.runs import task_of

    if task_of(run).modality.endings:  # sources are files
        yield from some_of([_file(each) for each in given])
        return
    if not given or list(given) == ["-"]:
        yield from some_of(_decoded(sys.stdin.buffer, "standard input", run))
        return
    if all(map(is_text, given)):
        yield list(given)
        return
    if len(given) > 1:
        file = next(each for each in given if not is_text(each))
        raise UsageError(f"{file}: a file beside other texts, expected one file, or texts alone.")
    from chainrule.text.corpora.packing import open_stream

    path = Path(given[0])
    if not path.is_file():
        raise DataError(f"{path}: no such file.")
    with open_stream(path) as stream:
        yield from some_of(_decoded(stream, str(path), run))


def _file(name: str) -> str:
    if not Path(name).is_file() and not Path(name.rpartition("#")[0]).is_file():  # photos.npy#7
        raise DataError(f"{name}: no such file.")
    return name


def _decoded(stream: Any, name: str, run: Any) -> Iterator[str]:
    from chainrule.text.corpora.decoding import valid_utf8, without_bom

    for number, line in enumerate(stream, start=1):
        line = without_bom(line, name)[0] if number == 1 else line
        yield valid_utf8(line.rstrip(b"\r\n"), name, line=number, offset=0,
                         errors=run.recipe.text.errors).decode()


def some_of(lines: Iterable[Any]) -> Iterator[list[Any]]:
    """Lines, or whatever there is one of after the other, in groups."""
    held: list[Any] = []
    for line in lines:
        held.append(line)
        if len(held) == AT_ONCE:
            yield held
            held = []
    if held:
        yield held
