"""Splits a corpus by a hash of each passage's number: streaming, and the same each time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from chainrule.errors import DataError, OptionError
from chainrule.text.corpora.corpus import CHUNK, Chunk, Corpus
from chainrule.text.corpora.strands import is_fasta
from chainrule.text.units import SPACE

BLOCK = 8 << 10  # bytes of a passage of a long document, at least
TINY = 32 * BLOCK  # below this many bytes, every line is a passage
SHORT = 1 << 10  # bytes of a passage of short sequences, which have no lines
MANY = 100  # with so many documents, every document is a passage
LOOK = 64 << 20  # bytes read to see how many documents there are
FINEST = 10**6  # one passage of so many is the smallest share
WHOLE = 1 << 62  # more bytes than any document has


class Rule(Protocol):
    """Which passages are taken."""

    def takes(self, number: int) -> bool: ...


@dataclass(frozen=True)
class Fold:
    """One random passage out of every 1/fraction, chosen by the seed: the validation part, or all the others."""

    fraction: Fraction
    seed: int
    part: Literal["train", "valid"]

    def takes(self, number: int) -> bool:
        group = int(number * self.fraction)
        first, last = (-(-g * self.fraction.denominator // self.fraction.numerator) for g in (group, group + 1))
        digest = hashlib.blake2b(f"{self.seed} {group}".encode(), digest_size=8).digest()
        chosen = first + int.from_bytes(digest, "little") % (last - first)
        return (number == chosen) == (self.part == "valid")

    def __str__(self) -> str:
        return f"{self.part} of a split {float(self.fraction):g}, seed {self.seed}"


@dataclass(frozen=True)
class EveryNth:
    """Every n-th passage, from the i-th."""

    i: int
    n: int

    def takes(self, number: int) -> bool:
        return number % self.n == self.i - 1

    def __str__(self) -> str:
        return f"part {self.i}/{self.n}"


@dataclass(frozen=True)
class Selection:
    """The passages of a corpus that a rule takes; each stretch of neighbors is a document of its own."""

    base: Corpus
    rule: Rule
    passage: int  # bytes of a passage, at least; it ends with the next line, or with its document

    @property
    def name(self) -> str:
        return f"{self.base.name} ({self.rule})"

    @property
    def files(self) -> tuple[str, ...]:
        return self.base.files

    @property
    def size(self) -> int:
        return self.base.size

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.base.fingerprint()} {self.rule!r} {self.passage}".encode()).hexdigest()

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        held: Chunk | None = None  # whether it ends a document is known when the next passage comes
        for number, chunk in passages(self.base, self.passage, size):
            taken = self.rule.takes(number)
            if held is not None:
                yield held if taken or held.ends_document else Chunk(held.data, held.source, held.line, True)
            held = chunk if taken else None
        if held is not None:
            yield held


def split(corpus: Corpus, fraction: float, seed: int = 0) -> tuple[Selection, Selection]:
    """A corpus in two, to train and to validate; they share no passage, and together they are the whole."""
    if not 0 < fraction < 1:
        raise OptionError("split.valid", fraction, "a number between 0 and 1", "0.1 sets a tenth aside.")
    share = Fraction(fraction).limit_denominator(FINEST)
    if share in (0, 1):
        raise OptionError("split.valid", fraction, f"between {1 / FINEST:f} and {1 - 1 / FINEST:f}",
                          "For a fixed validation text, give --valid; 0 sets nothing aside.")
    passage = passage_bytes(corpus)
    train, valid = (Selection(corpus, Fold(share, seed, part), passage) for part in ("train", "valid"))
    if passage == 1:
        count = sum(1 for _ in passages(corpus, passage, CHUNK))
        taken = sum(valid.rule.takes(number) for number in range(count))
        if taken in (0, count):
            raise DataError(f"{corpus.name}: split.valid = {fraction:g} of {count} lines sets {taken} aside and leaves "
                            f"{count - taken}. Change the fraction, or name validation text with --valid.")
    return train, valid


def part(corpus: Corpus, i: int, n: int, unit: str) -> Selection:
    """The i-th of n parts of a corpus, i from 1; no unit (`line` or `document`) is cut, so counts add up exactly."""
    if not 1 <= i <= n:
        raise OptionError("part", f"{i}/{n}", f"1/{max(n, 1)} to {max(n, 1)}/{max(n, 1)}")
    return Selection(corpus, EveryNth(i, n), WHOLE if unit == "document" or is_fasta(corpus) else passage_bytes(corpus))


def passage_bytes(corpus: Corpus) -> int:
    """Documents where there are many, blocks of lines where they are long, lines where there is little text."""
    seen = documents = 0
    for chunk in corpus.chunks():
        seen, documents = seen + len(chunk.data), documents + chunk.ends_document
        if documents >= MANY:
            return WHOLE
        if seen >= LOOK:
            break
    return BLOCK if seen >= TINY else SHORT if is_fasta(corpus) else 1


def passages(corpus: Corpus, least: int, size: int) -> Iterator[tuple[int, Chunk]]:
    """The chunks of each passage with its number. Where passages end does not depend on how the text is chunked."""
    number, held, blank = 0, 0, True
    lines = not is_fasta(corpus)  # sequences may be cut anywhere
    for chunk in corpus.chunks(size):
        start, line = 0, chunk.line
        while start < len(chunk.data) or (chunk.ends_document and not start):
            end = start + max(1, least - held)
            end = chunk.data.find(b"\n", end - 1) + 1 or len(chunk.data) if lines else min(end, len(chunk.data))
            data = chunk.data[start:end]
            ends = chunk.ends_document and end == len(chunk.data)
            yield number, Chunk(data, chunk.source, line, ends)
            held, blank = held + len(data), blank and not data.strip(SPACE)
            if ends or (held >= least and (data.endswith(b"\n") or not lines) and not blank):
                number, held, blank = number + 1, 0, True
            start, line = end, line + data.count(b"\n")
            if not data:
                break
