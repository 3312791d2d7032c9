"""Words as a dictionary has them: letters and digits in lower case, without the marks around them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from chainrule.recipe.registry import part
from chainrule.text.tokenizers.words import Counted, WordTokenizer
from chainrule.text.units import END

APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
INNER = re.compile(f"[^{APOSTROPHES}]+(?:[{APOSTROPHES}][^{APOSTROPHES}]+)*")
LETTERS = r"[\p{L}\p{M}\p{N}]+"


class PlainWordTokenizer(WordTokenizer):
    """The same vocabulary as that of words, of a text split in another way."""

    name, at_spaces = "plain_words", False
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


@part
@dataclass(frozen=True, kw_only=True)
class PlainWords(Counted):
    """Runs of letters and digits in lower case ("don't" stays one); all else is left out, rare words become <unk>."""

    made = PlainWordTokenizer


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
