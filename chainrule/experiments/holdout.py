"""The one split that all recipes share: the training text, and the held-out text, which is never learned from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.corpus import CHUNK, Chunk, Corpus, documents
from chainrule.text.options import TextOptions
from chainrule.text.split import WHOLE, Selection, passages, split
from chainrule.text.units import SPACE

FRACTION = 0.1
MOST = 8 << 20  # bytes held out at most by default: evaluating more takes long and adds little
Spec = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Source:
    """Where the text comes from and how it is split: plain values, so that another process makes the same split."""

    data: tuple[str, ...]
    valid: tuple[str, ...] | None
    fraction: float
    seed: int
    text: dict[str, Any]
    target: tuple[str, ...] | None = None  # what belongs to the data, of tasks with sources and targets
    valid_target: tuple[str, ...] | None = None

    def halves(self) -> tuple[Corpus, Corpus]:
        """The text to train on, and the text held out."""
        options = TextOptions(**self.text)
        corpus = open_corpus(self.data, options)
        if self.valid is not None:
            return corpus, open_corpus(self.valid, options)
        with suppress(DataError):  # too few lines; `cut` reports unreadable text too
            train, valid = split(corpus, self.fraction, self.seed)
            if has_text(train) and has_text(valid):
                return train, valid
        return cut(corpus, self.fraction)


def source(data: Spec, valid: Spec | None, text: TextOptions, fraction: float, seed: int) -> tuple[Source, list[str]]:
    """How the text is split, and notes for the report; a fraction of 0 means the default."""
    specs, given = _listed(data), None if valid is None else _listed(valid)
    share, notes = fraction or FRACTION, []
    size = open_corpus(specs, text).size
    if given is None and not fraction and size * FRACTION > MOST:
        share = float(f"{MOST / size:.1g}")
        notes.append(f"{share:.1%} of the text is held out, about {MOST >> 20} MB: split.valid=0.1 would take more.")
    return Source(specs, given, share, seed, text.model_dump(mode="json")), notes


def unread_source(data: Spec, terms: Any, like: Any) -> Source:
    """The same for a task that opens its data itself."""
    targets = [None if each is None else _listed(each) for each in (terms.target, terms.valid_target)]
    return Source(_listed(data), None if terms.valid is None else _listed(terms.valid), like.split.valid or FRACTION,
                  like.split.seed, like.text.model_dump(mode="json"), *targets)


def piece(held_out: Corpus) -> str:
    """What the held-out text is made of: whole documents, or where documents were cut blocks or lines of them."""
    if isinstance(held_out, Cut):
        return "block"
    if not isinstance(held_out, Selection) or held_out.passage == WHOLE:
        return "document"
    first: int | None = None  # the number of the document's first passage
    for number, chunk in passages(held_out.base, held_out.passage, CHUNK):
        first = number if first is None else first
        if number > first:
            return "line" if held_out.passage == 1 else "block"
        first = None if chunk.ends_document else first
    return "document"


def whole(corpus: Corpus) -> Corpus:
    """The text that a part was taken from."""
    return corpus.base if isinstance(corpus, Selection | Cut) else corpus


def of_single_lines(held_out: Corpus) -> str | None:
    """A note if the text is so short that single lines of it are held out."""
    if not isinstance(held_out, Selection) or held_out.passage != 1:
        return None
    whole = held_out.base
    lines = sum(1 for chunk in whole.chunks() for line in chunk.data.split(b"\n") if line.strip(SPACE))
    if sum(1 for _ in documents(whole)) >= lines:  # each is a line
        return None
    return ("the text is short, so single lines all over it are held out, and each is predicted without the lines "
            "around it: how well a model uses a long context is not measured. --valid FILE holds out other text.")


def _listed(spec: Spec) -> tuple[str, ...]:
    return (str(spec),) if isinstance(spec, str | Path) else tuple(str(each) for each in spec)


def has_text(corpus: Corpus) -> bool:
    """Whether anything but white space is in it."""
    return any(chunk.data.strip(SPACE) for chunk in corpus.chunks())


def texts(corpus: Corpus) -> list[bytes]:
    """The whole documents, without blank ones: the units of models that read documents."""
    found = [b"".join(chunk.data for chunk in document.chunks) for document in documents(corpus)]
    return [text for text in found if text.strip(SPACE)]


@dataclass(frozen=True)
class Cut:
    """The bytes from `begin` to `end` of a text that has too few lines to be split by them."""

    base: Corpus
    begin: int
    end: int

    @property
    def name(self) -> str:
        return f"{self.base.name} (bytes {self.begin:,} to {self.end:,})"

    @property
    def files(self) -> tuple[str, ...]:
        return self.base.files

    @property
    def size(self) -> int:
        return self.end - self.begin

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.base.fingerprint()} {self.begin} {self.end}".encode()).hexdigest()

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        offset, line = 0, 1
        for chunk in self.base.chunks(size):
            data = chunk.data[max(0, self.begin - offset) : max(0, self.end - offset)]
            offset += len(chunk.data)
            if data:
                yield Chunk(data, chunk.source, line, chunk.ends_document or offset >= self.end)
                line += data.count(b"\n")


def cut(corpus: Corpus, fraction: float) -> tuple[Cut, Cut]:
    """The last words of the text are held out; a text of one word is cut between two characters."""
    text = b"".join(chunk.data for chunk in corpus.chunks())
    if len(text.split()) < 2 and len(text.decode().strip()) < 2:
        raise DataError(f"{corpus.name}: {len(text)} bytes, expected at least two characters: one to learn from, and "
                        "one to predict.")
    filled = len(text.rstrip(SPACE))
    target = min(filled - 1, round(filled * (1 - fraction)))
    gaps = [found.end() for found in re.finditer(rb"[\t-\r ]+", text[:filled]) if found.start() > 0]
    place = min(gaps, key=lambda gap: abs(gap - target)) if gaps else max(1, target)
    while text[place] & 0xC0 == 0x80:  # inside a character of several bytes
        place -= 1
    return Cut(corpus, 0, place), Cut(corpus, place, len(text))
