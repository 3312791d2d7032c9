"""What a file of word vectors holds: words and their rows, each word once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.text.tokenizers.words import WordTokenizer

LARGEST = 1 << 20  # numbers in a vector: what asks for more is no file of vectors
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Table:
    """Row r of `rows` (V, D) is the vector of `words[r]`."""

    words: list[str]
    rows: np.ndarray


def spelled(path: Path, names: Sequence[bytes], place: Callable[[int], str]) -> list[str]:
    """The words of a file, each of them once; `place(r)` says where row r is. Bytes that are no UTF-8 become \\xNN."""
    words = [name.decode(errors="backslashreplace") for name in names]
    if odd := [row for row, (word, name) in enumerate(zip(words, names, strict=True)) if word.encode() != name]:
        log.info(f"{path}: {len(odd):,} words are not UTF-8, the first at {place(odd[0])}: {words[odd[0]]}; their "
                 "bytes are spelled \\xNN.")
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        if not word or "\n" in word:
            raise DataError(f"{path}: {place(row)}: the word {word!r}, expected one that is not empty and has no line "
                            "end.")
        if rows.setdefault(word, row) != row:
            raise DataError(f"{path}: {place(row)}: the word {word!r} again, expected each word once. It is at "
                            f"{place(rows[word])} too.")
    return words


def check_size(path: Path, place: str, count: int, dimension: int) -> None:
    """Refuses sizes that no file of vectors has, before memory is asked for."""
    if count < 1 or not 1 <= dimension <= LARGEST:
        raise DataError(f"{path}: {place}: {count:,} words with {dimension:,} numbers each, expected at least one word "
                        f"and 1 to {LARGEST:,} numbers.")


def empty_rows(path: Path, count: int, dimension: int, dtype: str = "<f4") -> np.ndarray:
    """(count, dimension) to be filled; too much for the memory is one clear line."""
    try:
        return np.empty((count, dimension), dtype)
    except (MemoryError, ValueError):
        size = count * dimension * np.dtype(dtype).itemsize / 2**30
        raise DataError(f"{path}: {count:,} words with {dimension:,} numbers each need {size:,.0f} GiB, more than "
                        "there is memory. If the file is smaller than that, it is broken.") from None


def check_unspaced(path: Path, words: Sequence[str], form: str) -> None:
    """Refuses words that hold white space, where the format ends a word at the first."""
    for word in words:
        if word.encode().split() != [word.encode()]:
            raise UsageError(f"{path}: the word {word!r} holds white space, which {form} cannot hold. "
                             "Try --to fasttext.")


def tokenizer_of(words: Sequence[str]) -> WordTokenizer:
    """A tokenizer with these words; its special tokens are renamed if a word has the same spelling."""
    taken, marks = set(words), []
    for mark in ("<unk>", "<s>", "</s>"):
        while mark in taken:
            mark = f"<{mark}>"
        marks.append(mark)
    return WordTokenizer([word.encode() for word in (*marks, *words)])
