"""The text as one stream of bytes in which 0xFF, a byte that no UTF-8 has, stands for the end of a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.errors import DataError
from chainrule.text.corpora.corpus import Chunk, Corpus
from chainrule.text.options import TextOptions

END = b"\xff"
ADDED = b"\xfe"  # an end that the text has no byte for: of a document, or of a last line without its newline
SPACE = b"\0\t\n\v\f\r "
STRETCH = 1 << 18  # bytes of text worked on at a time: what a processor's cache holds
BLANK = {  # a unit's end and all the blank units after it
    "line": re.compile(rb"([\n\xfe])[\0\t\n\v\f\r \xfe]*[\n\xfe]"),
    "document": re.compile(rb"(\xfe)[\0\t\n\v\f\r \xfe]*\xfe"),
}
BLANK_LINES = re.compile(rb"(\n)[\0\t\n\v\f\r ]*\n")  # the same as BLANK["line"] without ADDED, 4 times as fast
TO_END = {"line": bytes.maketrans(b"\n\xfe", END * 2), "document": bytes.maketrans(ADDED, END)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of text with END in the place of each unit's end; the last unit may go on in the next stretch."""

    data: bytes
    bytes: np.ndarray  # (units that end here,) raw bytes of each, its newline included
    lost: int  # bytes of blank units left out


def unit_of(options: TextOptions, *, keeps_space: bool) -> str:
    """`auto` is a document for a tokenizer that keeps white space, and a line where it is lost anyway."""
    return options.unit if options.unit != "auto" else ("document" if keeps_space else "line")


def stretches(corpus: Corpus, unit: str, options: TextOptions, size: int = STRETCH) -> Iterator[Stretch]:
    """The whole corpus, a stretch at a time; a corpus without a single word is an error."""
    filled, seen, open_bytes = False, 0, 0
    for data, lost in _without_blanks(_terminated(corpus.chunks(size), unit, size), unit, options):
        lengths, open_bytes = _unit_bytes(data, unit, open_bytes)
        filled, seen = filled or bool(data.strip(SPACE + ADDED)), seen + _raw(data) + lost
        yield Stretch(data.translate(TO_END[unit]), lengths, lost)
    if not filled:
        raise DataError(f"{corpus.name}: there is no text in it{', only white space' if seen else ''}.")


def _terminated(chunks: Iterator[Chunk], unit: str, size: int) -> Iterator[bytes]:
    """Every unit ends in a newline or ADDED; small chunks are put together."""
    parts: list[bytes] = []
    held, inside = 0, False
    for chunk in chunks:
        parts.append(chunk.data)
        inside = not chunk.data.endswith(b"\n") if chunk.data else inside
        if chunk.ends_document and (inside or unit == "document"):
            parts.append(ADDED)
        inside = inside and not chunk.ends_document
        held += len(chunk.data) + chunk.ends_document
        if held >= size // 2:
            yield b"".join(parts)
            parts, held = [], 0
    yield b"".join(parts)


def _without_blanks(texts: Iterator[bytes], unit: str, options: TextOptions) -> Iterator[tuple[bytes, int]]:
    """Leaves out blank units, also where one spans several texts: it is held back until something stands in it."""
    if options.blank_lines == "keep":
        yield from ((text, 0) for text in texts)
        return
    before = b"\n" if unit == "line" else ADDED
    held, at_start = b"", True
    for text in texts:
        text = held + text
        blank = BLANK_LINES if unit == "line" and ADDED not in text else BLANK[unit]
        kept = blank.sub(rb"\1", before + text)[1:] if at_start else blank.sub(rb"\1", text)
        lost = _raw(text) - _raw(kept)
        start = max(kept.rfind(b"\n") if unit == "line" else -1, kept.rfind(ADDED)) + 1
        at_start = (at_start or start > 0) and not kept[start:].strip(SPACE)
        kept, held = (kept[:start], kept[start:]) if at_start else (kept, b"")
        yield kept, lost


def _raw(text: bytes) -> int:
    return len(text) - text.count(ADDED)


def _unit_bytes(data: bytes, unit: str, open_bytes: int) -> tuple[np.ndarray, int]:
    """Raw bytes of each unit that ends here, and of the one that is still open."""
    byte = np.frombuffer(data, np.uint8)
    is_end = byte == ADDED[0]
    if unit == "line":
        is_end |= byte == ord("\n")
    ends = np.flatnonzero(is_end)
    if not len(ends):
        return ends, open_bytes + len(data)
    lengths = np.diff(ends, prepend=-1) - (byte[ends] == ADDED[0])
    lengths[0] += open_bytes
    return lengths, len(data) - 1 - int(ends[-1])
