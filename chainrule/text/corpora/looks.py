"""What a plain text looks like: JSON lines, a table or a treebank under another name. It is said, never assumed."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import Any

from chainrule.errors import DataError
from chainrule.text.corpora.decoding import BOM, LOOK, refuse_binary
from chainrule.text.corpora.fasta import SEQUENCE
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.packing import open_stream

LINES = 20  # that are looked at
JSON = re.compile(rb'\s*(\[\s*)*\{\s*"[^"\n]{0,200}"\s*:')
WORD_LINE = re.compile(rb"\d{1,9}([-.]\d{1,9})?(\t[^\t]*){9}")


@dataclass(frozen=True)
class Look:
    """What a text looks like, in words, and the options that read it so; none where nothing here reads it."""

    what: str
    options: str = ""

    @property
    def flags(self) -> str:
        """The same options as `chainrule data check` has them."""
        return self.options.replace("text.", "--").replace("=", " ")

    @property
    def advice(self) -> str:
        """What to do about it."""
        so = f"Add {self.options} to read it so" if self.options else "Convert it to JSON lines, one object a line"
        return f"{so}, or text.format=txt if plain text is meant."


def look_of(source: FileSource, field: str) -> Look | None:
    """What a file that is read as plain text looks like; None for plain text."""
    if source.format != ".txt":
        return None
    head = head_of(source).removeprefix(BOM)
    whole = head.split(b"\n") if len(head) < LOOK else head.split(b"\n")[:-1]
    lines = [line.rstrip(b"\r") for line in whole if line.strip()][:LINES]
    return _json_lines(lines, field) or _json(head) or _treebank(lines) or _fasta(lines) or _table(lines, field)


def is_text(source: FileSource) -> bool:
    """Whether a file may be text, of whatever encoding; a packed one is looked into."""
    if source.format == ".parquet":
        return True
    head = head_of(source)
    try:
        refuse_binary(head, source.name)
    except DataError:
        return False
    return True


def head_of(source: FileSource) -> bytes:
    """The first bytes, unpacked."""
    with open_stream(source.path) as stream:
        return stream.read(LOOK)


def _json_lines(lines: list[bytes], field: str) -> Look | None:
    try:
        records = [json.loads(line) for line in lines if line.startswith(b"{")]
    except (ValueError, RecursionError):
        return None
    if not records or len(records) < len(lines) or not all(isinstance(record, dict) for record in records):
        return None
    return _with_field("JSON lines", "jsonl", field if all(field in each for each in records) else _longest(records),
                       field)


def _longest(records: list[dict[str, Any]]) -> str | None:
    """The field with the most text."""
    shared = set(records[0]).intersection(*records)
    sizes = {name: sum(len(each[name]) for each in records) for name in sorted(shared)
             if all(isinstance(each[name], str) for each in records)}
    return max(sizes, key=lambda name: sizes[name], default=None)


def _with_field(what: str, form: str, found: str | None, field: str) -> Look:
    if found is None:
        return Look(f"{what} without a field of text", f"text.format={form}")
    return Look(f"{what}, field {found}", f"text.format={form}" + (f" text.field={found}" if found != field else ""))


def _json(head: bytes) -> Look | None:
    return Look("JSON") if JSON.match(head) else None


def _treebank(lines: list[bytes]) -> Look | None:
    words = [line for line in lines if not line.startswith(b"#")]
    fits = words and all(WORD_LINE.fullmatch(line) for line in words)
    return Look("CoNLL-U", "text.format=conllu") if fits else None


def _fasta(lines: list[bytes]) -> Look | None:
    """A header, then lines of a few different letters without spaces, as many of each line but the last."""
    if len(lines) < 2 or not lines[0].startswith(b">"):
        return None
    letters = [line for line in lines if not line.startswith((b">", b";"))]
    fits = letters and all(SEQUENCE.fullmatch(line) for line in letters)
    return Look("FASTA", "text.format=fasta") if fits else None


def _table(lines: list[bytes], field: str) -> Look | None:
    """A header that has the field, and rows of as many cells."""
    for what, form, delimiter in (("comma-separated values", "csv", ","), ("tab-separated values", "tsv", "\t")):
        try:
            rows = list(csv.reader((line.decode() for line in lines), delimiter=delimiter))
        except (csv.Error, UnicodeDecodeError):
            continue
        if len(rows) > 1 and len(rows[0]) > 1 and field in rows[0] and len({len(row) for row in rows}) == 1:
            return _with_field(what, form, field, field)
    return None
