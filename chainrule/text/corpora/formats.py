"""Files by their ending: each format is a function from a path to chunks of text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chainrule.text.corpora.blocks import blocks
from chainrule.text.corpora.conllu import read_conllu
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.corpora.fasta import ENDINGS, read_fasta
from chainrule.text.corpora.packing import readable, unpacked_name
from chainrule.text.corpora.parquet import read_parquet
from chainrule.text.corpora.records import read_csv, read_jsonl, read_tsv
from chainrule.text.options import TextOptions

Reader = Callable[[Path, TextOptions, int], Iterator[Chunk]]


class Source(Protocol):
    """One thing that text is read from: a file, or a built-in corpus."""

    @property
    def name(self) -> str: ...

    def size(self) -> int: ...

    def digest(self) -> str: ...

    def state(self) -> tuple[int, ...]:
        """What shows that it was changed: for a file which one it is, its size and the time it was written."""
        ...

    def chunks(self, options: TextOptions, size: int) -> Iterator[Chunk]: ...


def read_text(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """A text file is one document."""
    for block in blocks(path, size=size, errors=options.errors, expansion=options.expansion):
        yield Chunk(block.data, str(path), block.line, block.last)


FORMATS: dict[str, Reader] = {
    ".txt": read_text, ".jsonl": read_jsonl, ".ndjson": read_jsonl, ".csv": read_csv, ".tsv": read_tsv,
    ".conllu": read_conllu, ".parquet": read_parquet, **dict.fromkeys(ENDINGS, read_fasta),
}


def format_of(path: Path) -> str | None:
    """The ending that says how a file is read, packed or not; None where it is none of ours."""
    suffix = Path(unpacked_name(path)).suffix.lower()
    return suffix if suffix in FORMATS else None


@dataclass(frozen=True)
class FileSource:
    """A file on disk; with `replace`, bytes that are not UTF-8 are read as U+FFFD whatever the options say.

    `part` names a split of a JSON file with labeled texts.
    """

    path: Path
    format: str = ".txt"
    replace: bool = False
    part: str = ""

    @property
    def name(self) -> str:
        return f"{self.path}:{self.part}" if self.part else str(self.path)

    def size(self) -> int:
        with readable(self.path):
            return self.path.stat().st_size

    def digest(self) -> str:
        with readable(self.path), self.path.open("rb") as stream:
            own = f"{self.format}:{self.part}" if self.part else self.format
            return f"{own} {self.path.suffix} {hashlib.file_digest(stream, 'sha256').hexdigest()}"

    def state(self) -> tuple[int, ...]:
        with readable(self.path):
            found = self.path.stat()
            return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def chunks(self, options: TextOptions, size: int) -> Iterator[Chunk]:
        if self.replace:
            options = options.model_copy(update={"errors": "replace"})
        return FORMATS[self.format](self.path, options, size)
