"""Reading an ARPA file line by line where it is short, and in blocks of many lines where it is long."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, NoReturn

from chainrule.errors import DataError

BLOCK = 4 << 20  # bytes read at a time
LONGEST_LINE = 16 << 20


class Lines:
    """A position in the file: what is to be read next, and the number of its line."""

    def __init__(self, stream: BinaryIO, path: Path):
        self._stream, self._path = stream, path
        self._data, self._at = b"", 0  # what has been read from the stream, and how much of it has been given out
        self.number = 1  # of the line that comes next

    def fail(self, number: int, problem: str) -> NoReturn:
        raise DataError(f"{self._path}:{number}: {problem}")

    def line(self) -> bytes | None:
        """The next line without its end, None after the last."""
        while (end := self._data.find(b"\n", self._at)) < 0 and self._more():
            continue
        end = len(self._data) if end < 0 else end
        line = self._data[self._at:end + 1]
        self._at += len(line)
        self.number += bool(line)
        return line.rstrip() if line else None

    def filled_line(self) -> bytes | None:
        """The next line that is not blank."""
        while (line := self.line()) == b"":
            continue
        return line

    def block(self) -> bytes:
        """Some whole lines of n-grams; none before a section's end: a blank line or one that begins with \\."""
        while True:
            end = self._section_end()
            cut = self._data.rfind(b"\n", self._at) + 1 if end is None else end
            if cut > self._at or end is not None:
                block = self._data[self._at:cut]
                self._at = max(cut, self._at)
                self.number += block.count(b"\n")
                return block
            if not self._more():
                self.fail(self.number, "the file ends here, before \\end\\; it was cut. Copy or download it again.")

    def _section_end(self) -> int | None:
        """Where the first blank line or line with a backslash begins, if there is one."""
        if self._data.startswith((b"\n", b"\r\n", b"\\"), self._at):
            return self._at
        marks = (b"\n\n", b"\n\r\n", b"\n\\")
        return min((at + 1 for mark in marks if (at := self._data.find(mark, self._at)) >= 0), default=None)

    def _more(self) -> bool:
        if len(self._data) - self._at > LONGEST_LINE:
            self.fail(self.number, f"a line longer than {LONGEST_LINE >> 20} MB; this is not an ARPA file.")
        fresh = self._stream.read(BLOCK)
        self._data, self._at = self._data[self._at:] + fresh, 0
        return bool(fresh)
