"""Which features of a text speak for a label, and against another: exact, since the scores are linear in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.classifying.features import CUT_OFF, NO_ROW, Features
from chainrule.classifying.reference import ngram_buckets, word_hashes, words_of
from chainrule.classifying.spelling import END
from chainrule.vectors.subwords import buckets, grams


@dataclass(frozen=True)
class Feature:
    """One feature of a text: its row, how it is spelled, and the words that it is of, by number."""

    kind: str  # word, characters, or words
    text: str
    words: tuple[int, ...]
    row: int  # NO_ROW: training never met it, so that it counts as zeros


def features_of(features: Features, text: bytes) -> Iterator[Feature]:
    """The features of a text in the order of `Features.plain_bags`, spelled out; the word after the last is </s>."""
    words, shape = [*words_of(text), END], features.shape
    for n, word in enumerate(words):
        if (row := features.row_of.get(word)) is not None:
            yield Feature("word", _spelled(word), (n,), row)
    hashed: list[tuple[str, str, tuple[int, ...], int]] = []
    for n, word in enumerate(words[:-1] if shape.max_n else ()):
        spelled = _spelled(word)
        found = buckets(spelled, shape.min_n, shape.max_n, shape.bucket)
        hashed += [("characters", gram, (n,), each)
                   for gram, each in zip(grams(spelled, shape.min_n, shape.max_n), found, strict=True)]
    if shape.word_ngrams > 1:
        ranges = [range(n, m + 1) for n in range(len(words))
                  for m in range(n + 1, min(n + shape.word_ngrams, len(words)))]
        found = ngram_buckets(word_hashes(words), shape.word_ngrams, shape.bucket)
        hashed += [("words", " ".join(_spelled(words[k]) for k in some), tuple(some), each)
                   for some, each in zip(ranges, found, strict=True)]
    for kind, spelled, some, bucket in hashed:
        if (row := int(features.row_of_bucket[bucket])) != CUT_OFF:
            yield Feature(kind, spelled, some, row)


def contributions(rows: np.ndarray, vectors_RD: np.ndarray, direction_D: np.ndarray, size: int) -> np.ndarray:
    """(F,): z_f · d / n of each feature f; their sum is h · d, h = Σ z_f / n. `rows` may hold NO_ROW, which adds 0."""
    found = np.zeros(len(rows))
    known = rows != NO_ROW
    found[known] = vectors_RD.astype(np.float64) @ direction_D.astype(np.float64) / size
    return found


def _spelled(word: bytes) -> str:
    return word.decode(errors="replace")
