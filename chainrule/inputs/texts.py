"""Texts in memory: as a corpus, so that tokenizers can be trained on them, and as ids, one array each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.text.corpora.corpus import CHUNK, Chunk

AT_ONCE = 1 << 20  # bytes of text encoded together


@dataclass(frozen=True)
class Texts:
    """Texts as a corpus: each is a document of one line."""

    texts: Sequence[bytes]
    name: str = "texts"

    @property
    def files(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        for number, text in enumerate(self.texts, start=1):
            yield Chunk(text + b"\n", self.name, number, True)

    def text(self) -> bytes:
        """All of them, one a line."""
        return b"".join(on_one_line(text) + b"\n" for text in self.texts)

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for text in self.texts:
            found.update(text + b"\n")
        return found.hexdigest()


def on_one_line(text: bytes) -> bytes:
    """Line ends as spaces."""
    return text.replace(b"\n", b" ").replace(b"\r", b" ") if b"\n" in text or b"\r" in text else text


def ids_of(texts: Sequence[bytes], tokenizer: Any) -> list[np.ndarray]:
    """The ids of each text, without marks; many are encoded at once."""
    found: list[np.ndarray] = []
    for some in _together(texts):
        ids = tokenizer.encode_text(b"".join(on_one_line(text) + b"\n" for text in some))
        ends = np.flatnonzero(ids == tokenizer.end)
        assert len(ends) == len(some), "an end mark for each text"
        found += [ids[begin:end] for begin, end in zip([0, *(ends[:-1] + 1)], ends, strict=True)]
    return found


def _together(texts: Sequence[bytes]) -> Iterator[list[bytes]]:
    held: list[bytes] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= AT_ONCE:
            yield held
            held, size = [], 0
    if held:
        yield held
