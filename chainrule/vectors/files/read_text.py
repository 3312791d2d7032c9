"""Vectors as text: a word and its numbers a line, with word2vec's first line or, as in GloVe, without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from chainrule.errors import DataError
from chainrule.storage.files import opened
from chainrule.vectors.files.table import Table, check_size, empty_rows, spelled

BLOCK = 1 << 22  # bytes read at a time
LONGEST_HEADER, LONGEST_LINE = 200, 64 << 20  # bytes; a packed file of some megabytes may hold a line of gigabytes
JIT_PAYS_FROM = 1_000_000  # numbers: NumPy reads them in about the time in which the kernel is loaded
Parse = Callable[[list[bytes], np.ndarray], tuple[list[bytes], np.ndarray]]


def read_text(path: Path, *, header: bool) -> Table:
    """Words and vectors; memory is taken once, a broken line is named."""
    count, dimension = _announced(path) if header else _counted(path)
    check_size(path, "line 1", count, dimension)
    first = 2 if header else 1
    names: list[bytes] = []
    rows = empty_rows(path, count, dimension)
    parse = _parser(rows.size)
    with opened(path) as stream:
        if header:
            stream.readline(LONGEST_HEADER)
        for lines in line_blocks(stream, path):
            low, room = len(names), count - len(names)
            names += read_lines(path, lines[:room], first + low, rows[low : low + len(lines)], parse)
            if len(lines) > room:  # said last: what is broken before it may be why
                raise DataError(f"{path}: line {first + count}: more lines than the {count:,} words that line 1 "
                                "announces.")
    if len(names) < count:
        raise DataError(f"{path}: line {first + len(names)}: the file ends after {len(names):,} words, expected "
                        f"{count:,} as line 1 announces. It may have been cut.")
    return Table(spelled(path, names, lambda row: f"line {first + row}"), rows)


def header_of(line: bytes) -> tuple[int, int] | None:
    """`words numbers`, where a line is word2vec's first; the mark that some editors put before it is passed over."""
    fields = line.removeprefix(b"\xef\xbb\xbf").split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _announced(path: Path) -> tuple[int, int]:
    with opened(path) as stream:
        line = stream.readline(LONGEST_HEADER)
    found = header_of(line)
    if found is None:
        raise DataError(f"{path}: line 1: {line[:40].decode(errors='replace').strip()!r}, expected two numbers: how "
                        "many words and how many numbers each has. A file without such a line: --from glove.")
    return found


def _counted(path: Path) -> tuple[int, int]:
    """How many lines there are, and how many numbers are at the end of the first."""
    with opened(path) as stream:
        first = stream.readline(1 << 24).split()
    dimension = next((n for n, field in enumerate(reversed(first[1:])) if number_of(field) is None), len(first) - 1)
    if dimension < 1:
        raise DataError(f"{path}: line 1: no numbers after the word, expected a word and its vector.")
    with opened(path) as stream:
        return sum(map(len, line_blocks(stream, path))), dimension


def line_blocks(stream: BinaryIO, path: Path) -> Iterator[list[bytes]]:
    """The lines, some megabytes at a time; empty ones at the end are none."""
    rest, blank = b"", 0
    while data := stream.read(BLOCK):
        cut = data.rfind(b"\n") + 1
        if not cut:
            rest += data
            if len(rest) > LONGEST_LINE:
                raise DataError(f"{path}: a line longer than {LONGEST_LINE >> 20} MiB, expected a word and numbers.")
            continue
        lines = (rest + data[: cut - 1]).split(b"\n")
        rest = data[cut:]
        full = next((len(lines) - n for n, line in enumerate(reversed(lines)) if line.strip()), 0)
        if full:
            yield [b""] * min(blank, 1) + lines[:full]  # refused, with the number of the first
        blank = len(lines) - full + (0 if full else blank)
    if rest.strip():
        yield [b""] * min(blank, 1) + [rest]


def read_lines(path: Path, lines: list[bytes], first: int, into: np.ndarray, parse: Parse) -> list[bytes]:
    """The words of some lines, whose numbers are put `into` the table; unusual lines are read one by one."""
    names, plain = parse(lines, into)
    for row in np.flatnonzero(~plain).tolist():
        names[row], into[row] = _careful(f"{path}: line {first + row}", lines[row], into.shape[1])
    return names


def parse_plainly(lines: list[bytes], into: np.ndarray) -> tuple[list[bytes], np.ndarray]:
    """The words, and which lines were as usual (one space between fields, all numbers finite): those are in `into`."""
    dimension = into.shape[1]
    cut = [line.rstrip().partition(b" ") for line in lines]
    plain = np.array([bool(word) and rest.count(b" ") == dimension - 1 for word, _, rest in cut])
    text = b" ".join([rest for (_, _, rest), usual in zip(cut, plain, strict=True) if usual])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's way to say that it stopped early
        try:
            numbers = np.fromstring(text, np.float32, sep=" ")
        except ValueError:
            numbers = np.empty(0, np.float32)
    if len(numbers) == plain.sum() * dimension and np.isfinite(numbers).all():
        into[plain] = numbers.reshape(-1, dimension)
    else:
        plain[:] = False
    return [word for word, _, _ in cut], plain


def _parser(numbers: int) -> Parse:
    if numbers < JIT_PAYS_FROM:
        return parse_plainly
    from chainrule.kernels.vectors_files import parse_quickly

    return parse_quickly


def _careful(place: str, line: bytes, dimension: int) -> tuple[bytes, list[float]]:
    """One line, field by field. More fields than numbers are a word with spaces, if none of them is a number."""
    fields = line.split()
    if not fields:
        raise DataError(f"{place}: empty, expected a word and {dimension:,} numbers.")
    name, numbers = fields[: max(1, len(fields) - dimension)], fields[max(1, len(fields) - dimension) :]
    if len(numbers) < dimension or any(number_of(field) is not None for field in name[1:]):
        raise DataError(f"{place}: {len(fields) - 1:,} numbers after {_short(fields[0])}, expected {dimension:,}.")
    values = [number_of(field) for field in numbers]
    for field, value in zip(numbers, values, strict=True):
        if value is None or not abs(value) < 3.4028236e38:
            raise DataError(f"{place}: {_short(field)} after the word {_short(b' '.join(name))}, expected a finite "
                            "number.")
    return b" ".join(name), values  # type: ignore[return-value]


def number_of(field: bytes) -> float | None:
    """The number that a field spells, NaN and infinities among them."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _short(field: bytes) -> str:
    return repr(field[:40].decode(errors="backslashreplace"))


def looks_like(path: Path) -> str | None:
    """`header` or `plain` for a text with vectors, `binary` where vectors follow a header as bytes, or None."""
    try:
        with opened(path) as stream:
            first, *others = islice(iter(lambda: stream.readline(1 << 20), b""), 3)
    except (DataError, ValueError):
        return None
    if header_of(first):
        return "binary" if others and not _printable(others[0]) else "header"
    return "plain" if _mostly_numbers(first) and all(number_of(line.split()[-1]) is not None for line in others
                                                     if line.strip()) else None


def _printable(line: bytes) -> bool:
    """Whether a line is text: its numbers are spelled, or else it is UTF-8 without control characters."""
    try:
        return _mostly_numbers(line) or line.rstrip().replace(b"\t", b" ").decode().isprintable()
    except UnicodeDecodeError:
        return False


def _mostly_numbers(line: bytes) -> bool:
    fields = line.split()[1:]
    return len(fields) > 0 and 2 * sum(number_of(field) is not None for field in fields) > len(fields)
