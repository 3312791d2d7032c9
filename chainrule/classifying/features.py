"""From texts to bags of features: words, their character n-grams, and n-grams of words, each with a row.

Joulin et al. 2016, arXiv:1607.01759 §2.1: n-grams are hashed, as fastText hashes them. Each text ends with the word
</s>, as there. Rows exist only for buckets that training met: one that it never met counts as a row of zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chainrule.classifying.reference import ngram_buckets, word_hashes, words_of
from chainrule.classifying.spelling import END, Numbered, Words, numbered
from chainrule.vectors.subwords import buckets

JIT_PAYS_FROM = 1 << 17  # bytes of text: below, plain Python is done before Numba is loaded
MOST = 255  # the largest weight
NO_ROW, CUT_OFF = -1, -2  # a bucket that counts as zeros, and one that does not count


@dataclass(frozen=True)
class Shape:
    """Which features there are; `bucket` is 0 where none is hashed."""

    word_ngrams: int = 1
    min_n: int = 0
    max_n: int = 0
    bucket: int = 2_000_000

    @property
    def hashed(self) -> int:
        """How many buckets are in use."""
        return self.bucket if self.word_ngrams > 1 or self.max_n else 0


@dataclass(frozen=True)
class Bags:
    """Text t has the rows members[starts[t]:starts[t + 1]], each weights[…] times, sizes[t] features in all.

    A weight is one byte: a row that occurs more often stands there again.
    """

    starts: np.ndarray
    members: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)

    def only(self, texts: np.ndarray) -> Bags:
        """The bags of these texts."""
        lengths = self.starts[texts + 1] - self.starts[texts]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(starts[-1]) + np.repeat(self.starts[texts] - starts[:-1], lengths)
        return Bags(starts, self.members[places], self.weights[places], self.sizes[texts])


class Features:
    """Row 0 is </s>, then come the words, then the buckets in `used`; `cut` says that features were taken away."""

    def __init__(self, words: Sequence[bytes], used: np.ndarray, shape: Shape, *, cut: bool = False):
        self.words, self.used, self.shape, self.cut = words, used, shape, cut

    @property
    def rows(self) -> int:
        return 1 + len(self.words) + len(self.used)

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        return {**{word: row for row, word in enumerate(self.words, start=1)}, END: 0}

    @cached_property
    def table(self) -> Words:
        """The same for many words at once."""
        return Words.of(self.words)

    @cached_property
    def row_of_bucket(self) -> np.ndarray:
        found = np.full(self.shape.hashed, CUT_OFF if self.cut else NO_ROW, np.int32)
        found[self.used] = np.arange(1 + len(self.words), self.rows)
        return found

    def bags(self, texts: Sequence[bytes]) -> Bags:
        """The features of texts; no text may contain a newline."""
        if sum(map(len, texts)) < JIT_PAYS_FROM:
            return self.plain_bags(texts)
        block = numbered(texts)
        raw = raw_bags(block, self.shape)
        rows = self.table.find(block)  # word n of the table has row n
        return _trimmed(raw, resolve_rows(raw, rows, self.row_of_bucket, raw, 0, grow=False))

    def plain_bags(self, texts: Sequence[bytes]) -> Bags:
        """The same in plain Python, one feature at a time."""
        starts, members, weights, sizes = [0], list[int](), list[int](), list[int]()
        for text in texts:
            found = Counter(self._features(text))
            sizes.append(sum(found.values()))
            del found[NO_ROW]
            for row, count in found.items():
                parts = [MOST] * (count // MOST) + [count % MOST] * (count % MOST > 0)
                members += [row] * len(parts)
                weights += parts
            starts.append(len(members))
        return Bags(np.array(starts, np.int64), np.array(members, np.int32), np.array(weights, np.uint8),
                    np.array(sizes, np.float32))

    def _features(self, text: bytes) -> list[int]:
        words, shape = [*words_of(text), END], self.shape
        found = [row for word in words if (row := self.row_of.get(word)) is not None]
        hashed = [each for word in words if word != END and shape.max_n
                  for each in buckets(word.decode(errors="replace"), shape.min_n, shape.max_n, shape.bucket)]
        if shape.word_ngrams > 1:
            hashed += ngram_buckets(word_hashes(words), shape.word_ngrams, shape.bucket)
        return found + [row for each in hashed if (row := int(self.row_of_bucket[each])) != CUT_OFF]


def raw_bags(block: Numbered, shape: Shape) -> Bags:
    """The features of a block's texts before they have rows: word n is n, bucket b is −1 − b."""
    from chainrule.kernels.classifier_text import collect

    grams, counts = _grams(block, shape)
    gram_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    edges = block.ends * shape.word_ngrams  # room for the features of each text
    if shape.max_n:
        edges = edges + np.concatenate([[0], np.cumsum(counts[block.numbers])])[block.ends]
    slots = np.full(1 << max(6, int(2 * np.diff(edges).max(initial=0)).bit_length()), -1, np.int32)
    found = empty_bags(len(block.ends) - 1, int(edges[-1]))
    collect(block.numbers, block.ends, block.hashes.view(np.int32), gram_starts, grams, shape.word_ngrams,
            np.uint64(max(shape.hashed, 1)), slots, found.starts, found.members, found.weights, found.sizes)
    return _trimmed(found, int(found.starts[-1]))


def resolve_rows(raw: Bags, row_of: np.ndarray, row_of_bucket: np.ndarray, out: Bags, first: int, *, grow: bool) -> int:
    """Writes rows in the place of raw features, new ones from `first`, and gives their number; `out` may be `raw`."""
    from chainrule.kernels.classifier_text import resolve

    return resolve(raw.starts, raw.members, raw.weights, raw.sizes, row_of, row_of_bucket, first, grow, out.starts,
                   out.members, out.weights, out.sizes)


def empty_bags(texts: int, members: int) -> Bags:
    """Uninitialized arrays of this size; the system allocates memory when they are written to."""
    return Bags(np.zeros(texts + 1, np.int64), np.empty(members, np.int32), np.empty(members, np.uint8),
                np.zeros(texts, np.float32))


def _trimmed(bags: Bags, size: int) -> Bags:
    return Bags(bags.starts, bags.members[:size].copy(), bags.weights[:size].copy(), bags.sizes)


def _grams(block: Numbered, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """The buckets of the character n-grams of each of a block's words, and how many each has."""
    from chainrule.kernels.classifier_text import mark_words
    from chainrule.kernels.vectors_subwords import hash_grams

    counts = np.zeros(len(block.firsts), np.int64)
    if not shape.max_n:
        return np.zeros(0, np.int64), counts
    lengths = block.firsts[:, 1] - block.firsts[:, 0] + 2
    lengths[0] = 0  # </s> has none
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    marked = np.zeros(int(offsets[-1]), np.uint8)
    mark_words(block.data, block.firsts, offsets, marked)
    how = shape.min_n, shape.max_n, shape.bucket
    total = hash_grams(marked, offsets, *how, counts, np.zeros(0, np.int64))
    grams = np.zeros(total, np.int64)
    if total:
        hash_grams(marked, offsets, *how, counts, grams)
    return grams, counts
