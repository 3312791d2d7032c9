"""Labeled texts: `__label__x text` a line, a label and a text in the columns of a table, or pairs in JSON."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, did_you_mean
from chainrule.inputs.class_folders import TEXTS, ClassFolders, class_folders
from chainrule.inputs.labeled_json import json_rows
from chainrule.text.corpora.blocks import lines
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.packing import is_json
from chainrule.text.corpora.records import check_width, columns_of, json_records, table_rows
from chainrule.text.options import EXPANSION, LONGEST_LINE
from chainrule.text.split import Selection

SIZE = 1 << 20  # bytes read at a time
TABLES = {".csv": ",", ".tsv": "\t"}
Row = tuple[int, Any, Any]  # line, label, text


@dataclass(frozen=True)
class Layout:
    """Where a file has labels and text. In tables without a header, columns are numbers from 1."""

    prefix: str = "__label__"
    label: str = "label"
    text: str = "text"
    separator: str | None = None  # between several labels in one field of a table
    errors: str = "strict"
    longest_line: int = LONGEST_LINE
    expansion: int = EXPANSION


@dataclass(frozen=True, slots=True)
class Example:
    """One text with its labels, none where they are not asked for, and where it stands."""

    text: bytes
    labels: tuple[str, ...]
    source: str
    line: int

    @property
    def where(self) -> str:
        """File and line, for messages; of a file that is an example by itself, the file."""
        row = getattr(self.text, "where", None)  # `inputs.files.Listed`: the row of a table that names the file
        return f"{self.source}: line {self.line}" if row is None else row.removesuffix(": ") or os.fsdecode(self.text)


def examples(sources: Iterable[Any], layout: Layout, *, need_labels: bool = True) -> Iterator[Example]:
    """Every text of the files; one without a label or without a word is an error where labels are needed."""
    for source in sources:
        if not isinstance(source, FileSource):
            raise DataError(f"{source.name}: a built-in corpus has no labels, expected a file such as "
                            f"'{layout.prefix}good a fine film'.")
        for found in _read(source, layout, need_labels):
            if need_labels and not found.labels:
                raise DataError(f"{found.source}: line {found.line}: no label, expected {_expected(source, layout)}.")
            if need_labels and not found.text.strip():
                raise DataError(f"{found.source}: line {found.line}: a label without a text. Leave the line out.")
            yield found


def labeled(corpus: Any, layout: Layout, *, need_labels: bool = True) -> Iterator[Example]:
    """The labeled texts of a corpus; where a part was set aside, whole texts are taken by their number.

    The text of an example may be the path of a file, which its modality reads.
    """
    from chainrule.inputs.files import Files

    if isinstance(corpus, Selection):
        rule = corpus.rule
        return (each for number, each in enumerate(labeled(corpus.base, layout)) if rule.takes(number))
    if isinstance(corpus, Files):
        return iter(corpus.rows)
    if isinstance(corpus, ClassFolders):
        return _in_folders(corpus, layout)
    return examples(corpus.sources, layout, need_labels=need_labels)


def open_labeled(data: Any, recipe: Any, modality: Any) -> Any:
    """What a recipe's data names: files of labeled texts, folders of which each is a class, or labeled files."""
    from chainrule.inputs.files import open_files
    from chainrule.text.corpora import open_corpus

    if modality.endings:
        return open_files(data, recipe, modality)
    return class_folders(data, TEXTS, recipe.task["prefix"]) or open_corpus(data, recipe.text)


def _in_folders(corpus: ClassFolders, layout: Layout) -> Iterator[Example]:
    for text, label, path in corpus.texts(layout.errors, layout.longest_line):
        if not text.strip():
            raise DataError(f"{path}: an empty file, expected a text. Leave it out.")
        yield Example(text.replace(b"\r", b" ").replace(b"\n", b" ").strip(), (label,), str(path), 1)


def _read(source: FileSource, layout: Layout, need_labels: bool) -> Iterator[Example]:
    path, form = source.path, source.format
    if form in (".conllu", ".parquet"):
        raise DataError(f"{path}: labels are not read from {form} files, expected lines of text, .csv, .tsv or .jsonl.")
    if form == ".txt" and not is_json(path):
        yield from _lines(path, layout)
        return
    rows: Iterator[Row] = _records(path, layout, need_labels)
    if form in TABLES:
        rows = _table(path, TABLES[form], layout, need_labels)
    elif is_json(path):
        rows = json_rows(source, layout.label, layout.text, layout.longest_line)
    for line, label, text in rows:
        if not isinstance(text, str):
            raise DataError(f"{path}: line {line}: the field {layout.text!r} is {str(text)[:40]}, expected text.")
        data = text.encode(errors="replace").replace(b"\n", b" ")
        yield Example(data, tuple(_labels(label, layout)), str(path), line)


def _lines(path: Path, layout: Layout) -> Iterator[Example]:
    """Words that begin with the prefix are labels, wherever they stand."""
    prefix = layout.prefix.encode()
    for number, line in lines(path, size=SIZE, errors=layout.errors, longest=layout.longest_line,
                              expansion=layout.expansion):
        found = []
        while line.startswith(prefix):
            first, *rest = line.split(None, 1)
            found.append(first)
            line = rest[0] if rest else b""
        if prefix in line:
            words = line.split()
            found += [word for word in words if word.startswith(prefix)]
            line = b" ".join(word for word in words if not word.startswith(prefix))
        if found or line.strip():
            yield Example(line, tuple(word[len(prefix):].decode() for word in found), str(path), number)


def _labels(value: Any, layout: Layout) -> list[str]:
    if isinstance(value, list):
        return [each for one in value for each in _labels(one, layout)]
    text = "" if value is None else str(value)
    parts = [text] if layout.separator is None else text.split(layout.separator)
    return [part.strip().removeprefix(layout.prefix) for part in parts if part.strip()]


def _table(path: Path, delimiter: str, layout: Layout, need_labels: bool) -> Iterator[Row]:
    text = lines(path, size=SIZE, errors=layout.errors, longest=layout.longest_line, expansion=layout.expansion)
    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL  # quotes are ordinary characters there
    wanted = [layout.label, layout.text]
    columns: list[int | None] | None = None
    if all(name.isdecimal() for name in wanted):
        columns = [int(name) - 1 for name in wanted]
    width = 0  # of the first row
    for first, row in table_rows(text, path, longest=layout.longest_line, delimiter=delimiter, quoting=quoting):
        width = width or len(row)
        if columns is None:
            columns = [_position(row, name, path, asked=need_labels or name == layout.text) for name in wanted]
        elif any(cell.strip() for cell in row):  # spreadsheets write empty rows as ,,
            check_width(row, width, f"{path}: line {first}", delimiter)
            label, text_cell = _cells(row, columns, path, first)
            yield first, label, text_cell


def _position(header: Sequence[str], name: str, path: Path, *, asked: bool) -> int | None:
    if name.isdecimal():
        return int(name) - 1
    if name in header:
        return list(header).index(name)
    if not asked:
        return None
    raise DataError(f"{path}: line 1: no column {name!r}.{did_you_mean(name, [each[:24] for each in header[:24]])} Set "
                    "task.labels and text.field; numbers, from 1, take the columns of a table without header.")


def _cells(row: Sequence[str], columns: Sequence[int | None], path: Path, line: int) -> list[str | None]:
    most = max(column for column in columns if column is not None)
    if most >= len(row):
        raise DataError(f"{path}: line {line}: {columns_of(row)}, expected at least {most + 1}.")
    return [None if column is None else row[column] for column in columns]


def _records(path: Path, layout: Layout, need_labels: bool) -> Iterator[Row]:
    for number, record in json_records(path, size=SIZE, errors=layout.errors, longest=layout.longest_line,
                                       expansion=layout.expansion):
        wanted = [layout.text, layout.label] if need_labels else [layout.text]
        missing = [name for name in wanted if not isinstance(record, dict) or name not in record]
        if missing:
            raise DataError(f"{path}: line {number}: no field {missing[0]!r}. Set task.labels and text.field.")
        yield number, record.get(layout.label), record[layout.text]


def _expected(source: FileSource, layout: Layout) -> str:
    if is_json(source.path):
        return f"[text, label], or an object with the fields {layout.text!r} and {layout.label!r}"
    if source.format == ".txt":
        return f"a word that begins with {layout.prefix!r} (task.prefix)"
    return f"one in the field {layout.label!r} (task.labels)"


def layout_of(recipe: Any) -> Layout:
    """From a recipe's sections `text` and `task`."""
    text, task = recipe.text, recipe.task
    return Layout(task.get("prefix", "__label__"), str(task.get("labels", "label")), text.field, task.get("separator"),
                  text.errors, text.longest_line, text.expansion)
