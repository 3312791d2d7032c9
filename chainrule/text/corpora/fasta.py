"""FASTA: sequences of bases or amino acids behind headers; their lines are joined, and letters are upper case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chainrule.errors import DataError
from chainrule.text.corpora.blocks import cut_text, lines
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.corpora.decoding import BOM, LOOK
from chainrule.text.corpora.packing import open_stream
from chainrule.text.options import TextOptions

ENDINGS = (".fasta", ".fa", ".fna", ".ffn", ".faa")
SPACE = b" \t\r\n\v\f"
SEQUENCE = re.compile(rb"[A-Za-z*\-.]*")
BASES = b"ACGTUN"


def read_fasta(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """Each sequence is a document; headers (>) and comments (;) are left out.

    Lines are joined without their ends, so every byte is a letter. Lower case marks repeats in some files and says
    nothing about the sequence itself: all letters become upper case.
    """
    held, length, first, any_ = list[bytes](), 0, 1, False
    for number, line in lines(path, size=size, errors=options.errors, longest=options.longest_line,
                              expansion=options.expansion):
        if line[:1] == b">" and held:
            yield from _chunks(held, path, first, size, ends=True)
            held, length = [], 0
        letters = b"" if line[:1] in (b">", b";") else _letters(line, path, number)
        if not letters:
            continue
        if length >= size:
            yield from _chunks(held, path, first, size, ends=False)
            held, length = [], 0
        first, any_ = (first if held else number), True
        held.append(letters)
        length += len(letters)
    if held or not any_:
        yield from _chunks(held, path, first, size, ends=True)


def _chunks(held: list[bytes], path: Path, line: int, size: int, *, ends: bool) -> Iterator[Chunk]:
    for piece, last in cut_text(b"".join(held), size):
        yield Chunk(piece, str(path), line, ends and last)


def _letters(line: bytes, path: Path, number: int) -> bytes:
    found = line.translate(None, SPACE)
    if not SEQUENCE.fullmatch(found):
        bad = SEQUENCE.sub(b"", found, count=1).decode(errors="replace")[:1]
        raise DataError(f"{path}: line {number}: {bad!r} in a sequence, expected letters. text.format=txt reads the "
                        "file as plain text.")
    return found.upper()


def begins_as_fasta(path: Path) -> bool:
    """Whether the first line that is not blank is a header or a comment: news.fa may be Persian."""
    with open_stream(path) as stream:
        head = stream.read(LOOK).removeprefix(BOM).lstrip(SPACE)
    return head[:1] in (b">", b";")


def share_of_bases(text: bytes) -> float:
    """How much of a sequence is A, C, G, T, U or N."""
    return sum(map(text.count, (bytes([base]) for base in BASES))) / max(1, len(text))
