"""A text as vectors are trained on it: ids, which of them are words, and how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.protocols import Tokenizer
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import Trainer
from chainrule.text.tokenizers.words import WordTokenizer

UNIT_ENDS, LEFT_OUT = -2, -1  # rows of ids that are no words


@dataclass(frozen=True)
class Text:
    """`row_of[id]` is a word's row, LEFT_OUT for an unknown one, UNIT_ENDS where a unit ends; rows follow the ids."""

    ids: np.ndarray
    tokenizer: Tokenizer
    row_of: np.ndarray
    counts: np.ndarray  # (V,) of each row, in this text

    @property
    def vocabulary_size(self) -> int:
        return len(self.counts)

    @property
    def tokens(self) -> int:
        """Words that have a vector, counted as often as they occur."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Source:
    """What a method reads: a corpus, and how it becomes words."""

    corpus: Corpus
    trainer: Trainer
    options: TextOptions
    seed: int


def read_text(source: Source) -> Text:
    """The words of a corpus; one with fewer than two different words is an error."""
    tokenizer, encoded = fit_and_encode(source.corpus, source.trainer, source.options)
    return checked(numbered(encoded.ids, tokenizer), source)


def read_with(tokenizer: Tokenizer, source: Source) -> Text:
    """The same with a vocabulary that is there already."""
    return numbered(encode(source.corpus, tokenizer, source.options).ids, tokenizer)


def numbered(ids: np.ndarray, tokenizer: Tokenizer) -> Text:
    """Marks and the unknown token have no vector; all others keep their order."""
    row_of = np.full(tokenizer.vocabulary_size, LEFT_OUT, np.int32)
    rows = word_ids(tokenizer)
    row_of[rows] = np.arange(len(rows))
    row_of[tokenizer.end] = UNIT_ENDS
    counts = np.zeros(tokenizer.vocabulary_size, np.int64)
    for piece in np.array_split(ids, max(1, len(ids) >> 20)):  # each becomes eight bytes an id
        counts += np.bincount(piece, minlength=tokenizer.vocabulary_size)
    return Text(ids, tokenizer, row_of, counts[rows])


def word_ids(tokenizer: Any) -> np.ndarray:
    """The ids that stand for words, in order: row r is the word of the r-th."""
    marks = [id for id in (tokenizer.unknown, tokenizer.start, tokenizer.end) if id is not None]
    return np.setdiff1d(np.arange(tokenizer.vocabulary_size), marks)


def spellings(tokenizer: Tokenizer) -> list[str]:
    """The word of each row."""
    return [tokenizer.token(id) for id in word_ids(tokenizer).tolist()]


def listed(words: list[bytes]) -> WordTokenizer:
    """A tokenizer whose words are these, in this order."""
    return WordTokenizer([b"<unk>", b"<s>", b"</s>", *words])


def checked(text: Text, source: Source) -> Text:
    """Refuses a text in which nothing can be learned."""
    there = int((text.counts > 0).sum())
    hint = "tokenizer.min_count=1, or more text" if getattr(source.trainer, "min_count", 1) > 1 else "more text"
    if text.vocabulary_size == 0:
        raise DataError(f"{source.corpus.name}: no word occurs as often as tokenizer.min_count asks. Try {hint}.")
    if there < 2:
        raise DataError(f"{source.corpus.name}: {there} different word occurs often enough, expected at least 2. Try "
                        f"{hint}.")
    return text


