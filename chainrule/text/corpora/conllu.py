"""CoNLL-U treebanks: the sentences as text, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chainrule.errors import DataError
from chainrule.text.corpora.blocks import LINE, lines, too_long
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.options import TextOptions

ID = re.compile(rb"\d{1,9}([-.]\d{1,9})?")


def read_conllu(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """`# text =` where a sentence has it, else its words; `# newdoc` starts a document."""
    held: Chunk | None = None  # whether a sentence ends its document is known when the next one comes
    for number, sentence in sentences(path, options, size):
        text = _text(sentence, path, number) + b"\n"
        starts = any(line.startswith(b"# newdoc") for line in sentence)
        if held is not None:
            yield Chunk(held.data, held.source, held.line, starts)
        held = Chunk(text, str(path), number, True)
    yield held or Chunk(b"", str(path), 1, True)


def sentences(path: Path, options: TextOptions, size: int) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of each sentence, and the number of the first; between sentences stand empty lines, or white space."""
    sentence: list[bytes] = []
    number = held = 0
    for number, line in lines(path, size=size, errors=options.errors, longest=options.longest_line,
                              expansion=options.expansion):
        line = line.rstrip(b"\r")
        if line.strip():
            sentence.append(line)
            held += len(line) + LINE
            if held > (options.longest_line << 20) + LINE:
                raise too_long(path, number + 1 - len(sentence), options.longest_line, "strict",
                               "an empty line after each sentence")
        elif sentence:
            yield number - len(sentence), sentence
            sentence, held = [], 0
    if sentence:
        yield number + 1 - len(sentence), sentence


def _text(sentence: list[bytes], path: Path, number: int) -> bytes:
    for line in sentence:
        if line.startswith(b"# text ="):
            return line.removeprefix(b"# text =").strip()
    return _joined(sentence, path, number).rstrip()


def _joined(sentence: list[bytes], path: Path, number: int) -> bytes:
    """FORM by FORM; a range (3-4) stands for its words, an empty node (8.1) for nothing."""
    parts: list[bytes] = []
    covered = 0
    for offset, line in enumerate(sentence):
        if line.startswith(b"#"):
            continue
        columns = check_columns(line, path, number + offset)
        id, form, misc = columns[0], columns[1], columns[9]
        first, _, last = id.partition(b"-")
        if b"." in id or (not last and int(first) <= covered):
            continue
        covered = int(last or first)
        parts += [form, b"" if b"SpaceAfter=No" in misc else b" "]
    return b"".join(parts)


def check_columns(line: bytes, path: Path, number: int) -> list[bytes]:
    """The ten columns of a line of a treebank."""
    columns = line.split(b"\t")
    if len(columns) != 10:
        raise DataError(f"{path}: line {number}: {len(columns)} column{'s' * (len(columns) > 1)}, expected the 10 of "
                        "CoNLL-U.")
    if not ID.fullmatch(columns[0]):
        raise DataError(f"{path}: line {number}: {columns[0][:20].decode()!r} in the first column, expected a "
                        "number, a range such as 3-4, or 8.1 for an empty node.")
    return columns
