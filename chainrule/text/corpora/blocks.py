"""A file becomes blocks of valid UTF-8 cut at line ends; every text format is read through here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chainrule.errors import DataError
from chainrule.text.corpora.decoding import refuse_binary, valid_utf8, without_bom
from chainrule.text.corpora.packing import open_stream
from chainrule.text.options import EXPANSION, LONGEST_LINE

LINE = 64  # bytes that a line in memory takes beside its text


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines (or a piece of one that is longer than a block), and where they stand in the file."""

    data: bytes
    line: int
    last: bool


def blocks(path: Path, *, size: int, errors: str, expansion: int = EXPANSION) -> Iterator[Block]:
    """Cuts a file at the last line end of each `size` bytes; a longer line is cut between two characters."""
    line, offset, carry = 1, 0, b""
    with open_stream(path, expansion) as stream:
        for number, (data, last) in enumerate(_reads(stream, size)):
            if number == 0:
                refuse_binary(data, str(path))
                data, offset = without_bom(data, str(path))
            data = carry + data
            cut = len(data) if last else _cut(data)
            data, carry = data[:cut], data[cut:]
            text = valid_utf8(data, str(path), line=line, offset=offset, errors=errors)
            yield Block(text, line, last)
            line, offset = line + data.count(b"\n"), offset + len(data)


def lines(path: Path, *, size: int, errors: str, longest: int = LONGEST_LINE, expansion: int = EXPANSION
          ) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, without line ends; each must fit into memory.

    A packed file of some megabytes may hold a line of gigabytes, so one of more than `longest` MiB is refused.
    """
    parts: list[bytes] = []
    number, held = 1, 0  # held: bytes in `parts`
    for block in blocks(path, size=size, errors=errors, expansion=expansion):
        *whole, rest = block.data.split(b"\n")
        for line in whole:
            if held + len(line) > longest << 20:
                raise too_long(path, number, longest, errors)
            yield number, b"".join([*parts, line])
            parts, held, number = [], 0, number + 1
        parts.append(rest)
        held += len(rest)
        if held > longest << 20:
            raise too_long(path, number, longest, errors)
    if last := b"".join(parts):
        yield number, last


def too_long(path: Path, number: int, longest: int, errors: str, expected: str = "one record a line") -> DataError:
    """What begins at this line is longer than may be held in memory."""
    other = "" if errors == "convert" else f" Or set text.longest_line={2 * longest}, if there is memory for it."
    return DataError(f"{path}: line {number}: longer than {longest} MiB, expected {expected}.{other}")


def cut_text(data: bytes, size: int) -> Iterator[tuple[bytes, bool]]:
    """A long text in pieces of about `size` bytes at line ends or between characters, and whether each is the last."""
    start = 0
    while len(data) - start > size:
        cut = start + _cut(data[start : start + size])
        yield data[start:cut], False
        start = cut
    yield data[start:], True


def _reads(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, bool]]:
    data = stream.read(size)
    while True:
        ahead = stream.read(size) if data else b""
        yield data, not ahead
        if not ahead:
            return
        data = ahead


def _cut(data: bytes) -> int:
    """After the last line end; without one, before the last character, which may be incomplete."""
    cut = data.rfind(b"\n") + 1
    if cut:
        return cut
    cut = len(data) - 1
    while cut > max(0, len(data) - 4) and data[cut] & 0xC0 == 0x80:  # a continuation byte of UTF-8
        cut -= 1
    return cut if cut > 0 else len(data)
