"""Text that is not in a file (standard input, a pipe, an argument) is kept in a temporary file while it is read."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from chainrule.errors import DataError


@contextmanager
def as_file(file: str) -> Iterator[str]:
    """A file name for readers that read a text twice; messages keep the name that the user gave."""
    if file != "-" and not Path(file).is_fifo():
        yield file
        return
    with open(file, "rb") if file != "-" else nullcontext(sys.stdin.buffer) as pipe, \
            _copied(pipe, named(file)) as name:
        yield name


@contextmanager
def text_as_file(text: str, name: str) -> Iterator[str]:
    """The same for a given text; messages call it `name`."""
    with _copied(io.BytesIO(text.encode(errors="surrogateescape")), name) as path:
        yield path


def named(file: str) -> str:
    """The name in messages."""
    return "standard input" if file == "-" else file


@contextmanager
def _copied(pipe: BinaryIO, name: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".txt") as copy:
        shutil.copyfileobj(pipe, copy)
        copy.flush()
        try:
            yield copy.name
        except DataError as error:
            raise DataError(str(error).replace(copy.name, name)) from None
