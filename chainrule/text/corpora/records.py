"""Formats with many documents in a file: each row or record is one."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from chainrule.errors import DataError, did_you_mean
from chainrule.text.corpora.blocks import LINE, cut_text, lines, too_long
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.options import EXPANSION, TextOptions

Record = tuple[int, object]  # line (or row) number, and what stands in the field


def read_jsonl(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """One JSON object a line; the text is in its field `options.field`."""
    return documents_of(_json_fields(path, options, size), path, options, size)


def read_csv(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """Comma-separated values; quoted fields may hold commas and line ends."""
    return documents_of(_cells(path, options, size, delimiter=",", quoting=csv.QUOTE_MINIMAL), path, options, size)


def read_tsv(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """Tab-separated values; quotes are ordinary characters."""
    return documents_of(_cells(path, options, size, delimiter="\t", quoting=csv.QUOTE_NONE), path, options, size)


def documents_of(records: Iterable[Record], path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """Each record is a document."""
    for line, text in records:
        if not isinstance(text, str):
            raise DataError(f"{path}: line {line}: the field {options.field!r} is {str(text)[:40]}, expected text.")
        try:
            data = text.encode()
        except UnicodeEncodeError as error:  # JSON can spell half a surrogate pair
            if options.errors == "strict":
                raise DataError(f"{path}: line {line}: character {error.start} of the field {options.field!r} is half "
                                "a surrogate pair. Set text.errors=replace to read it as '?'.") from None
            data = text.encode(errors="replace")
        for piece, last in cut_text(data, size):
            yield Chunk(piece, str(path), line, last)


def json_records(path: Path, *, size: int, errors: str, longest: int, expansion: int = EXPANSION
                 ) -> Iterator[tuple[int, Any]]:
    """The number of each line that is not blank, and the JSON in it."""
    for number, line in lines(path, size=size, errors=errors, longest=longest, expansion=expansion):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}: line {number}: not JSON ({error}), expected one object a line.") from None
        except RecursionError:
            raise DataError(f"{path}: line {number}: JSON nested too deep, expected one object a line.") from None
        yield number, record


def _json_fields(path: Path, options: TextOptions, size: int) -> Iterator[Record]:
    for number, record in json_records(path, size=size, errors=options.errors,
                                       longest=options.longest_line, expansion=options.expansion):
        if not isinstance(record, dict):
            raise DataError(f"{path}: line {number}: a JSON {type(record).__name__}, expected an object with the field "
                            f"{options.field!r}.")
        if options.field not in record:
            raise DataError(f"{path}: line {number}: {no_field(options.field, list(record))}")
        yield number, record[options.field]


def _cells(path: Path, options: TextOptions, size: int, *, delimiter: str, quoting: Literal[0, 3]) -> Iterator[Record]:
    column: int | None = int(options.field) - 1 if options.field.isdecimal() else None
    text = lines(path, size=size, errors=options.errors, longest=options.longest_line, expansion=options.expansion)
    for first, row in table_rows(text, path, longest=options.longest_line, delimiter=delimiter, quoting=quoting):
        if column is None:
            column = _position(row, options.field, path)
        elif column < len(row):
            yield first, row[column]
        elif row:
            raise DataError(f"{path}: line {first}: {columns_of(row)}, expected at least {column + 1}.")


def columns_of(row: Sequence[str]) -> str:
    """`1 column`, `3 columns`."""
    return f"{len(row)} column{'s' if len(row) != 1 else ''}"


def check_width(row: Sequence[str], width: int | None, where: str, delimiter: str) -> None:
    """Refuses a row that goes on behind the last column of the first: a text with a bare comma would be cut there."""
    if width is not None and any(cell.strip() for cell in row[width:]):
        mend = "Put a text with a comma into quotes." if delimiter == "," else "Take tabs out of texts."
        raise DataError(f"{where}: {columns_of(row)}, expected {width} as in line 1. {mend}")


def table_rows(text: Iterator[tuple[int, bytes]], path: Path, *, longest: int, delimiter: str, quoting: Literal[0, 3]
               ) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, each with the number of its first line; quoted fields may go on for many lines.

    A row is held in memory, so one of more than `longest` MiB is refused.
    """
    first = held = 0

    def fed() -> Iterator[str]:
        nonlocal held
        for _, line in text:
            held += len(line) + LINE
            if held > (longest << 20) + LINE:
                raise too_long(path, first, longest, "strict", "one row a line, or in quotes on a few")
            yield line.decode() + "\n"

    csv.field_size_limit(min((longest << 20) + LINE, 2**31 - 1))  # the default, 128 KB, is less than a chapter
    rows, first = csv.reader(fed(), delimiter=delimiter, quoting=quoting, strict=quoting != csv.QUOTE_NONE), 1
    try:
        for row in rows:
            yield first, row
            first, held = rows.line_num + 1, 0
    except csv.Error as error:
        raise DataError(f"{path}: line {first}: not a row of a table ({error}).") from None


def _position(header: Sequence[str], field: str, path: Path) -> int:
    if field not in header:
        raise DataError(f"{path}: line 1: {no_field(field, header)} A number, from 1, takes a column of a table "
                        "without header.")
    return list(header).index(field)


def no_field(field: str, known: Sequence[str]) -> str:
    """What is wrong where a record has other fields."""
    short = [name if len(name) <= 24 else name[:23] + "…" for name in known[:24]]
    return f"no field {field!r}.{did_you_mean(field, short)} Set text.field to the one that has the text."
