"""Text that is not in a file (standard input, a pipe, an argument) is kept in a temporary file while it is read."""

from __future__ import annotations

import glob
import io
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from chainrule.cli.terminal.console import say
from chainrule.errors import DataError, UsageError

OPTION = re.compile(r"[a-z_]+(\.[a-z_]+)*=")


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
def as_file_or_text(given: str) -> Iterator[str]:
    """The same for an argument that may also be the text itself."""
    if not is_text(given):
        with as_file(given) as name:
            yield name
        return
    if not any(map(str.isspace, given)):
        say(f"{given}: no file or built-in corpus has that name; it is read as a text.")
    with text_as_file(given, named(given)) as name:
        yield name


def texts_and_options(first: str, words: Sequence[str]) -> tuple[str, list[str]]:
    """Texts that follow a text are further lines of it; words such as text.errors=replace are options."""
    options = [word for word in words if OPTION.match(word)]
    more = [word for word in words if not OPTION.match(word)]
    if more and not all(map(is_text, [first, *more])):
        file = next(each for each in [first, *more] if not is_text(each))
        raise UsageError(f"{file}: a file beside other texts, expected one file, or texts alone. Give a pattern in "
                         "quotes for several files.")
    return "\n".join([first, *more]), options


def is_text(given: str) -> bool:
    """Whether an argument is a text itself: nothing has that name, and it does not look like a file's."""
    from chainrule.text.corpora.builtin import BUILTINS
    from chainrule.text.corpora.formats import format_of

    if given == "-" or not given.strip() or given in BUILTINS or _is_there(given) or format_of(Path(given)):
        return False
    return any(map(str.isspace, given)) or not (Path(given).suffix or os.sep in given or glob.has_magic(given))


def _is_there(name: str) -> bool:
    """Whether there is such a file or folder, or one that matches such a pattern."""
    try:
        return os.path.lexists(os.path.expanduser(name)) or next(glob.iglob(name), None) is not None
    except (OSError, ValueError):  # no name at all: too long, or with a NUL
        return False


@contextmanager
def text_as_file(text: str, name: str) -> Iterator[str]:
    """The same for a given text; messages call it `name`."""
    with _copied(io.BytesIO(text.encode(errors="surrogateescape")), name) as path:
        yield path


def named(file: str) -> str:
    """The name in messages."""
    return "standard input" if file == "-" else "the text" if is_text(file) else file


@contextmanager
def _copied(pipe: BinaryIO, name: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".txt") as copy:
        shutil.copyfileobj(pipe, copy)
        copy.flush()
        log, renamed = logging.getLogger("chainrule"), _Renamed(copy.name, name)
        log.addFilter(renamed)
        try:
            yield copy.name
        except (DataError, UsageError) as error:
            kind = UsageError if isinstance(error, UsageError) else DataError
            raise kind(str(error).replace(copy.name, name)) from None
        finally:
            log.removeFilter(renamed)


class _Renamed(logging.Filter):
    """Messages keep the name that the user gave, too."""

    def __init__(self, path: str, known_as: str):
        super().__init__()
        self.path, self.known_as = path, known_as

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(self.path, self.known_as), ()
        return True
