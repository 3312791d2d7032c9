"""A corpus is a stream of chunks of valid UTF-8, never the whole text at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

CHUNK = 4 << 20  # bytes of text in a chunk, about


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of valid UTF-8 without BOM, cut at a line end (inside a line only where it is longer than a chunk)."""

    data: bytes
    source: str
    line: int  # number of the first line, from 1
    ends_document: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One document, whose text arrives in chunks; read them before asking the corpus for the next document."""

    source: str
    line: int
    chunks: Iterator[Chunk]

    def text(self) -> str:
        """All of it at once."""
        return b"".join(chunk.data for chunk in self.chunks).decode()


@runtime_checkable
class Corpus(Protocol):
    """Text that can be read again and again, in the same order."""

    @property
    def name(self) -> str:
        """What to call it in a message."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """The names of what is read, in order."""
        ...

    @property
    def size(self) -> int:
        """Bytes on disk, packed as they are."""
        ...

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """The whole text, about `size` bytes at a time."""
        ...

    def fingerprint(self) -> str:
        """SHA-256 of the content and of how it is read: equal fingerprints mean equal text."""
        ...


def documents(corpus: Corpus) -> Iterator[Document]:
    """The documents of a corpus; what a reader leaves of one is skipped."""
    chunks = corpus.chunks()
    for first in chunks:
        rest = _until_document_end(first, chunks)
        yield Document(first.source, first.line, rest)
        for _ in rest:  # skip what was not read
            continue


def _until_document_end(first: Chunk, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    yield first
    while not first.ends_document:
        first = next(chunks)
        yield first
