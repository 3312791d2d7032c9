"""Words as a dictionary has them: letters and digits in lower case, without the marks around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.registry import part
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import Tokenizer
from chainrule.text.tokenizers._ranking import check
from chainrule.text.tokenizers.words import GrowingWords, WordTokenizer
from chainrule.text.units import END, stretches, unit_of

APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
INNER = re.compile(f"[^{APOSTROPHES}]+(?:[{APOSTROPHES}][^{APOSTROPHES}]+)*")
LETTERS = r"[\p{L}\p{M}\p{N}]+"


@part
@dataclass(frozen=True, kw_only=True)
class PlainWords:
    """Runs of letters and digits in lower case ("don't" stays one); all else is left out, rare words become <unk>."""

    min_count: int = 1
    size: int | None = None
    keeps_space = False

    def __post_init__(self) -> None:
        check("plain_words", specials=3, min_count=self.min_count, size=self.size)

    def train(self, corpus: Corpus, options: TextOptions) -> WordTokenizer:
        growing = self.growing()
        for _ in growing.stream(stretches(corpus, unit_of(options, keeps_space=False), options), corpus, options):
            continue
        return growing.finish()[0]

    def growing(self) -> GrowingWords:
        """A vocabulary that grows while it encodes."""
        return GrowingWords(self.min_count, self.size, PlainWordTokenizer)

    def join(self, parts: Sequence[WordTokenizer], counts: Sequence[np.ndarray]
             ) -> tuple[WordTokenizer, list[np.ndarray]]:
        """The vocabulary of the parts' texts taken together, and for each part its ids' new ids."""
        return self.growing().joined(parts, counts)

    @staticmethod
    def load(layout: Mapping[str, Any]) -> WordTokenizer:
        vocabulary = layout["model"]["vocab"]
        return PlainWordTokenizer([token.encode() for token in sorted(vocabulary, key=vocabulary.__getitem__)])


class PlainWordTokenizer(WordTokenizer):
    """The same vocabulary as that of words, of a text split in another way."""

    name = "plain_words"
    normalizer = {"type": "Lowercase"}
    splits = {"pattern": {"Regex": f"{LETTERS}(?:[{APOSTROPHES}]{LETTERS})*"}, "invert": True}

    @staticmethod
    def split(data: bytes) -> list[bytes]:
        """The words of a text, and END where a unit ends."""
        found: list[bytes] = []
        for unit in data.split(END):
            found += [word.encode() for word in plain(unit.decode(errors="replace"))]
            found.append(END)
        return found[:-1]

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        return Tokenizer.encode_lines(self, lines)


def plain(text: str) -> list[str]:
    """`The King\'s "Yes!"` to `the king\'s yes`: letters, their marks and digits, and apostrophes between them."""
    words: list[str] = []
    for word in text.lower().translate(BLANKS).split():
        words += [word] if word.isalnum() else INNER.findall(word)
    return words


class Blanks(dict[int, int]):
    """What `str.translate` asks for each character: itself if it may stand in a word, a space otherwise."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        self[code] = code if unicodedata.category(character)[0] in "LMN" or character in APOSTROPHES else 0x20
        return self[code]


BLANKS = Blanks()
