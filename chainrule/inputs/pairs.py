"""Pairs of a source and a target: two files that are aligned line by line, or two columns of a table."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError, did_you_mean
from chainrule.inputs.labeled import TABLES
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.blocks import lines
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.records import check_width, columns_of, json_records, table_rows
from chainrule.text.options import TextOptions
from chainrule.text.split import Selection

SIZE = 1 << 20  # bytes read at a time
NAMES = ("source", "target")


@dataclass(frozen=True, slots=True)
class Pair:
    """A source, its target, and where the source stands."""

    source: bytes
    target: bytes
    file: str
    line: int
    in_table: bool = False  # where a source may have several rows, each with a target


@dataclass(frozen=True)
class Pairs:
    """Sources with their targets, in two corpora or in one corpus of tables."""

    sources: Any
    targets: Any | None  # None where tables have both
    columns: tuple[str, str]
    options: TextOptions

    @property
    def name(self) -> str:
        return self.sources.name if self.targets is None else f"{self.sources.name} and {self.targets.name}"

    @property
    def files(self) -> tuple[str, ...]:
        return self.sources.files if self.targets is None else (*self.sources.files, *self.targets.files)

    @property
    def size(self) -> int:
        return self.sources.size + (0 if self.targets is None else self.targets.size)

    def fingerprint(self) -> str:
        own = [self.sources.fingerprint(), "" if self.targets is None else self.targets.fingerprint()]
        return hashlib.sha256(f"{own} {self.columns}".encode()).hexdigest()

    def __iter__(self) -> Iterator[Pair]:
        if self.targets is None:
            for source in self.sources.sources:
                yield from _in_table(source, self.columns, self.options)
            return
        ours, theirs = _lines(self.sources, self.options), _lines(self.targets, self.options)
        for file, number, text in ours:
            other = next(theirs, None)
            if other is None:
                raise self._uneven(1 + sum(1 for _ in ours), 0)
            yield Pair(text, other[2], file, number)
        if next(theirs, None) is not None:
            raise self._uneven(0, 1 + sum(1 for _ in theirs))

    def _uneven(self, more: int, other: int) -> DataError:
        both: tuple[Any, Any] = (self.sources, self.targets)
        longer, shorter = both if more else both[::-1]
        lines = "1 line" if more + other == 1 else f"{more or other:,} lines"
        return DataError(f"{longer.name}: {lines} more than {shorter.name}, expected as many: line n of the one "
                         "belongs to line n of the other.")


def open_pairs(data: Any, target: Any, columns: tuple[str | int, str | int], options: TextOptions) -> Pairs:
    """What --data and --target name; without --target, tables that have both."""
    sources = open_corpus(data, options)
    names = str(columns[0]), str(columns[1])
    if target is not None:
        return Pairs(sources, open_corpus(target, options), names, options)
    for source in sources.sources:
        if not isinstance(source, FileSource) or source.format not in (*TABLES, ".jsonl", ".ndjson"):
            raise UsageError(f"{source.name}: no table, and no --target is given, expected the targets line by line in "
                             "--target FILE, or pairs in a .tsv, .csv or .jsonl.")
    return Pairs(sources, None, names, options)


def pairs_of(corpus: Any) -> Iterator[Pair]:
    """All pairs; where a part was set aside, those of that part, by their number."""
    if isinstance(corpus, Selection):
        rule = corpus.rule
        return (each for number, each in enumerate(pairs_of(corpus.base)) if rule.takes(number))
    return iter(corpus)


def _lines(corpus: Any, options: TextOptions) -> Iterator[tuple[str, int, bytes]]:
    """File, number and text of every line, blank ones included: they keep files aligned."""
    for source in corpus.sources:
        if not isinstance(source, FileSource):
            raise UsageError(f"{source.name}: a built-in corpus has no pairs, expected files.")
        for number, line in lines(source.path, size=SIZE, errors=options.errors, longest=options.longest_line,
                                  expansion=options.expansion):
            yield str(source.path), number, line.rstrip(b"\r")


def _in_table(source: FileSource, columns: tuple[str, str], options: TextOptions) -> Iterator[Pair]:
    for number, cells in table_cells(source, columns, options):
        yield Pair(_one_line(str(cells[0])), _one_line(str(cells[1])), str(source.path), number, True)


def table_cells(source: FileSource, columns: tuple[str, str], options: TextOptions, also: str | None = None
                ) -> Iterator[tuple[int, tuple[str | None, ...]]]:
    """Line and cells of each row of a table: those of two columns, and of another, None where there is none of it."""
    path = source.path
    if source.format not in TABLES:
        for number, record in json_records(path, size=SIZE, errors=options.errors, longest=options.longest_line,
                                           expansion=options.expansion):
            fields = record if isinstance(record, dict) else {}
            for name in columns:
                if not isinstance(fields.get(name), str):
                    raise DataError(f"{path}: line {number}: no text in the field {name!r}. Set task.source and "
                                    "task.target.")
            other = None if also is None else fields.get(also)
            yield number, (fields[columns[0]], fields[columns[1]], None if other is None else str(other))
        return
    quoting: Any = csv.QUOTE_NONE if TABLES[source.format] == "\t" else csv.QUOTE_MINIMAL
    text = lines(path, size=SIZE, errors=options.errors, longest=options.longest_line, expansion=options.expansion)
    places: tuple[int, int] | None = None
    third: int | None = None
    width: int | None = None  # of the header
    for number, row in table_rows(text, path, longest=options.longest_line, delimiter=TABLES[source.format],
                                  quoting=quoting):
        if places is None:
            places, headed = _places(row, columns, path)
            third = row.index(also) if headed and also in row else None
            if headed:
                width = len(row)
                continue
        if not row:
            continue
        check_width(row, width, f"{path}: line {number}", TABLES[source.format])
        most = max(*places, -1 if third is None else third)
        if most >= len(row):
            raise DataError(f"{path}: line {number}: {columns_of(row)}, expected at least {most + 1}.")
        yield number, (row[places[0]], row[places[1]], None if third is None else row[third])


def _places(row: Sequence[str], columns: tuple[str, str], path: Path) -> tuple[tuple[int, int], bool]:
    """The two columns, and whether this first row is a header: one with their names, unless these are numbers.

    A table without the usual names has sources in its first column and targets in its second.
    """
    if all(name.isdecimal() for name in columns):
        return (int(columns[0]) - 1, int(columns[1]) - 1), False
    if all(name in row for name in columns):
        return (row.index(columns[0]), row.index(columns[1])), True
    if columns == NAMES:
        return (0, 1), False
    missing = next(name for name in columns if name not in row)
    raise DataError(f"{path}: line 1: no column {missing!r}.{did_you_mean(missing, [each[:24] for each in row[:24]])} "
                    "Set task.source and task.target; numbers, from 1, take columns of a table without header.")


def _one_line(text: str) -> bytes:
    return " ".join(text.split("\n")).strip().encode(errors="replace")
