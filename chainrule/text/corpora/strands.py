"""Both strands of DNA: a training text in which each sequence is followed by its reverse complement."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chainrule.errors import OptionError
from chainrule.text.corpora.blocks import cut_text
from chainrule.text.corpora.corpus import CHUNK, Chunk, Corpus
from chainrule.text.corpora.fasta import ENDINGS, share_of_bases
from chainrule.text.corpora.formats import FileSource

PAIRS = bytes.maketrans(b"ACGTURYKMBVDH", b"TGCAAYRMKVBHD")  # IUPAC's codes; S, W and N are their own complements
MUCH = 0.9  # of the letters of a sequence that are bases, where it is one of bases


@dataclass(frozen=True)
class BothStrands:
    """A corpus of sequences, and behind each document the same of the other strand: complements, read backwards."""

    base: Corpus

    @property
    def name(self) -> str:
        return f"{self.base.name} (both strands)"

    @property
    def files(self) -> tuple[str, ...]:
        return self.base.files

    @property
    def size(self) -> int:
        return self.base.size

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.base.fingerprint()} both strands".encode()).hexdigest()

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        held: list[bytes] = []
        for chunk in self.base.chunks(size):
            yield chunk
            held.append(chunk.data)
            if chunk.ends_document:
                for piece, last in cut_text(reverse_complement(b"".join(held)), size):
                    yield Chunk(piece, chunk.source, chunk.line, last)
                held = []


def reverse_complement(sequence: bytes) -> bytes:
    """AACG → CGTT; letters that are no bases stay as they are."""
    return sequence.translate(PAIRS)[::-1]


def is_fasta(corpus: Any) -> bool:
    """Whether all of a corpus, or of what it is a part of, is read from FASTA files."""
    while hasattr(corpus, "base"):
        corpus = corpus.base
    sources = getattr(corpus, "sources", ())
    return bool(sources) and all(isinstance(each, FileSource) and each.format in ENDINGS for each in sources)


def has_bases(corpus: Any) -> bool:
    """Whether it is read from FASTA files and begins with bases: proteins are no DNA."""
    return is_fasta(corpus) and share_of_bases(next(iter(corpus.chunks())).data) >= MUCH


def with_both_strands(corpus: Any) -> BothStrands:
    """A training text with its other strand; one that is not DNA is refused."""
    if not has_bases(corpus):
        raise OptionError("text.reverse_complement", True, "false for a text that is not DNA in FASTA files",
                          f"{corpus.name} has no other strand.")
    return BothStrands(corpus)
