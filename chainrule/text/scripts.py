"""Scripts that are written without spaces between words: a tokenizer that splits at spaces finds sentences in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from chainrule.recipe.registry import find
from chainrule.text.corpora.corpus import Chunk, Corpus
from chainrule.text.tokenizers.characters import codes_of

BLOCKS = {  # code points of Unicode's blocks, first and last
    "Chinese characters": [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)],
    "kana": [(0x3041, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F)],
    "Thai": [(0x0E01, 0x0E5B)], "Lao": [(0x0E80, 0x0EFF)], "Tibetan": [(0x0F00, 0x0FFF)],
    "Burmese": [(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)], "Khmer": [(0x1780, 0x17FF)],
    "Tai": [(0x1950, 0x19DF), (0x1A20, 0x1AAF), (0xAA80, 0xAADF)], "Javanese": [(0xA980, 0xA9DF)],
}
NAMES = tuple(BLOCKS)
MUCH = 0.3  # of all characters that are no white space
FEW = 0.2  # spaces for each such character; a text whose words are parted by spaces has one for every two or three
SAMPLE = 1 << 16  # bytes of a text that are looked at before training


def _edges() -> tuple[np.ndarray, np.ndarray]:
    """Where classes of code points begin, and the class of each: the number of a script from 1, or 0."""
    spans = sorted((first, last + 1, number) for number, name in enumerate(NAMES, 1) for first, last in BLOCKS[name])
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    edges = [edge for first, end, number in spans for edge in ((first, number), (end, 0))]
    return np.array([0, *(place for place, _ in edges)]), np.array([0, *(number for _, number in edges)])


EDGES, CLASSES = _edges()


@dataclass
class Scripts:
    """Counts that add up chunk by chunk: characters of each such script, all others, and spaces."""

    counts: np.ndarray = field(default_factory=lambda: np.zeros(len(NAMES) + 1, np.int64))
    spaces: int = 0
    blank: int = 0

    def add(self, chunk: Chunk) -> None:
        self.spaces += chunk.data.count(b" ") + chunk.data.count(b"\t")
        self.blank += sum(map(chunk.data.count, (b" ", b"\t", b"\r", b"\n")))
        if chunk.data.isascii():
            self.counts[0] += len(chunk.data)
            return
        found = CLASSES[np.searchsorted(EDGES, codes_of(chunk.data), side="right") - 1]
        self.counts += np.bincount(found, minlength=len(self.counts))

    def unspaced(self) -> str | None:
        """The script of a text that is written without spaces; None if spaces part its words."""
        own, filled = self.counts[1:], int(self.counts.sum()) - self.blank
        if not own.any() or own.sum() < MUCH * filled or self.spaces > FEW * own.sum():
            return None
        return NAMES[int(own.argmax())]


def spaces_missed(tokenizer: str, corpus: Corpus) -> str | None:
    """A sentence where the tokenizer of this name splits at spaces, and the text has none between its words."""
    from chainrule.text.corpora.strands import is_fasta

    part: Any = find("text/tokenizers", tokenizer)
    if not part.keeps_space and is_fasta(corpus):
        return (f"{corpus.name} has sequences without words, and the tokenizer {tokenizer!r} takes each for one word.")
    if part.keeps_space or (script := unspaced_script(corpus)) is None:
        return None
    return (f"{corpus.name} is in {script}, without spaces between words, and the tokenizer {tokenizer!r} takes what "
            "stands between spaces for a word.")


def unspaced_script(corpus: Corpus) -> str | None:
    """The same for the beginning of a text."""
    found, seen = Scripts(), 0
    for chunk in corpus.chunks(SAMPLE):
        found.add(chunk)
        seen += len(chunk.data)
        if seen >= SAMPLE:
            break
    return found.unspaced()
