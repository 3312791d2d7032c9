"""A text as words: split at white space, marks before and behind a word being words of their own."""

from __future__ import annotations

import itertools
import unicodedata

ATTACHED = "#@"  # marks that stay before a word: hashtags and names
POINT = "."


def split_words(text: str, *, spaces: bool = False) -> list[str]:
    """The words of a text; with `spaces`, only white space is between them.

    `Really? (Yes, in the U.S.)` is Really ? ( Yes , in the U.S. ). Marks inside a word stay (don't, 3.5, well-known),
    # and @ stay before it, and a piece of marks alone is one word: `:-)`. Equal marks in a row are one word: `...`. A
    point stays behind a piece that has another (U.S., e.g.).
    """
    pieces = text.split()
    return pieces if spaces else [word for piece in pieces for word in _parted(piece)]


def _parted(piece: str) -> list[str]:
    inside = [n for n, each in enumerate(piece) if not _is_mark(each)]
    if not inside:
        return [piece]
    begin, end = inside[0], inside[-1] + 1
    if begin and piece[begin - 1] in ATTACHED:
        begin -= 1
    if piece[end:end + 1] == POINT and POINT in piece[begin:end] and piece[end + 1:end + 2] != POINT:
        end += 1
    return [*_runs(piece[:begin]), piece[begin:end], *_runs(piece[end:])]


def _runs(marks: str) -> list[str]:
    return ["".join(same) for _, same in itertools.groupby(marks)]


def _is_mark(character: str) -> bool:
    """Punctuation and symbols, as Unicode has them."""
    return unicodedata.category(character)[0] in "PS"
