"""A corpus as one flat array of token ids on disk, memory-mapped and cached by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

import numpy as np

from chainrule.protocols import Tokenizer
from chainrule.text.cache import cached
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import Trainer, load_tokenizer
from chainrule.text.units import Stretch, stretches, unit_of

VERSION = "1"  # goes into cache keys: change it when the same text would give other files
PIECE = 1 << 20  # ids renumbered at a time


@dataclass(frozen=True)
class Encoded:
    """The units of a corpus, one after the other, each followed by the end id; without start ids."""

    ids: np.ndarray  # uint16 where the vocabulary allows it, else int32
    ends: np.ndarray  # (R,) one past each unit's end id
    bytes: np.ndarray  # (R,) raw UTF-8 bytes of each unit, its newline included
    lost: int | None  # bytes of text left out (blank lines), None where white space is lost without being counted

    @property
    def units(self) -> int:
        return len(self.ends)

    def unit(self, r: int) -> np.ndarray:
        """The ids of one unit, its end id included."""
        return self.ids[int(self.ends[r - 1]) if r else 0 : int(self.ends[r])]


class Streaming(Protocol):
    """Turns a stream of text into ids: a trained tokenizer, or a growing vocabulary."""

    keeps_space: bool
    end: int

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]: ...


class Growing(Streaming, Protocol):
    """A vocabulary that grows while it encodes, and is put in order at the end."""

    def finish(self) -> tuple[Tokenizer, np.ndarray]:
        """The tokenizer, and for each id given so far the id that it has now."""
        ...


@runtime_checkable
class OnePass(Protocol):
    """A trainer that can encode while it trains."""

    def growing(self) -> Growing: ...


def encode(corpus: Corpus, tokenizer: Tokenizer, options: TextOptions) -> Encoded:
    """The ids of a corpus under a tokenizer; from the cache where the same content was encoded before."""
    def fill(folder: Path) -> None:
        _write(folder, corpus, tokenizer, options, _dtype(tokenizer.vocabulary_size))

    return _open(cached("encoded", _key(corpus, options, tokenizer.digest()), fill))


def fit_and_encode(corpus: Corpus, trainer: Trainer, options: TextOptions) -> tuple[Tokenizer, Encoded]:
    """Trains a tokenizer on a corpus and encodes it, in one pass where the trainer can do that."""
    made: list[Tokenizer] = []

    def fill(folder: Path) -> None:
        tokenizer = _fit(folder, corpus, trainer, options)
        tokenizer.save(folder / "tokenizer.json")
        made.append(tokenizer)

    folder = cached("encoded", _key(corpus, options, repr(trainer)), fill)
    return made[0] if made else load_tokenizer(folder / "tokenizer.json"), _open(folder)


def _fit(folder: Path, corpus: Corpus, trainer: Trainer, options: TextOptions) -> Tokenizer:
    if isinstance(trainer, OnePass):
        growing = trainer.growing()
        _write(folder, corpus, growing, options, np.dtype(np.int32))
        tokenizer, renumber = growing.finish()
        _renumber(folder / "ids", renumber, _dtype(tokenizer.vocabulary_size))
        return tokenizer
    tokenizer = trainer.train(corpus, options)
    _write(folder, corpus, tokenizer, options, _dtype(tokenizer.vocabulary_size))
    return tokenizer


def _write(folder: Path, corpus: Corpus, tokenizer: Streaming, options: TextOptions, dtype: np.dtype) -> None:
    """Streams ids, ends and bytes to three files; only one stretch of text is in memory."""
    offset, lost = 0, 0

    def recorded(out: BinaryIO) -> Iterator[Stretch]:
        nonlocal lost
        for stretch in stretches(corpus, unit_of(options, keeps_space=tokenizer.keeps_space), options):
            stretch.bytes.astype(np.int64).tofile(out)
            lost += stretch.lost
            yield stretch

    with (folder / "ids").open("wb") as ids_out, (folder / "ends").open("wb") as ends_out, \
            (folder / "bytes").open("wb") as bytes_out:
        for ids in tokenizer.stream(recorded(bytes_out), corpus, options):
            ids.astype(dtype).tofile(ids_out)
            (offset + 1 + np.flatnonzero(ids == tokenizer.end)).astype(np.int64).tofile(ends_out)
            offset += len(ids)
    (folder / "facts.json").write_text(json.dumps({"lost": lost if tokenizer.keeps_space else None, "tokens": offset}))


def _renumber(path: Path, renumber: np.ndarray, dtype: np.dtype) -> None:
    new = path.with_name("renumbered")
    with path.open("rb") as old, new.open("wb") as out:
        while len(ids := np.fromfile(old, np.int32, PIECE)):
            renumber[ids].astype(dtype).tofile(out)
    new.replace(path)


def _open(folder: Path) -> Encoded:
    facts = json.loads((folder / "facts.json").read_text())
    width = (folder / "ids").stat().st_size // facts["tokens"]
    ids = np.memmap(folder / "ids", {2: np.uint16, 4: np.int32}[width], mode="r")
    ends, bytes = (np.memmap(folder / name, np.int64, mode="r") for name in ("ends", "bytes"))
    return Encoded(ids, ends, bytes, facts["lost"])


def _dtype(vocabulary_size: int) -> np.dtype:
    return np.dtype(np.uint16 if vocabulary_size <= 1 << 16 else np.int32)


def _key(corpus: Corpus, options: TextOptions, tokenizer: str) -> str:
    return hashlib.sha256("\n".join([VERSION, corpus.fingerprint(), options.digest(), tokenizer]).encode()).hexdigest()
