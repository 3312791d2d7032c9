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

from chainrule.classifying.plain import SPACES, ngram_buckets, word_hashes, words_of
from chainrule.vectors.subwords import all_buckets, buckets, fnv1a

END = b"</s>"
MARKS = (b"<unk>", b"<s>")  # of the tokenizer: never words
JIT_PAYS_FROM = 1 << 17  # bytes of text: below, plain Python is done before Numba is loaded
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
    """Text t has the rows members[starts[t]:starts[t + 1]], each weights[…] times, sizes[t] features in all."""

    starts: np.ndarray
    members: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)


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
    def row_of_bucket(self) -> np.ndarray:
        found = np.full(self.shape.hashed, CUT_OFF if self.cut else NO_ROW, np.int32)
        found[self.used] = np.arange(1 + len(self.words), self.rows)
        return found

    def bags(self, texts: Sequence[bytes]) -> Bags:
        """The features of texts, none of which holds a line end."""
        if sum(map(len, texts)) < JIT_PAYS_FROM:
            return self.plain_bags(texts)
        numbers, spelled, hashes = _numbered(texts)
        rows = np.fromiter((self.row_of.get(word, -1) for word in spelled), np.int64, len(spelled))
        return _collected(numbers, spelled, hashes, rows, self, grow=False)[0]

    def plain_bags(self, texts: Sequence[bytes]) -> Bags:
        """The same, one feature after the other."""
        starts, members, weights, sizes = [0], list[int](), list[int](), list[int]()
        for text in texts:
            found = Counter(self._features(text))
            sizes.append(sum(found.values()))
            del found[NO_ROW]
            members += found.keys()
            weights += found.values()
            starts.append(len(members))
        return Bags(np.array(starts, np.int64), np.array(members, np.int32), np.array(weights, np.float32),
                    np.array(sizes, np.float32))

    def _features(self, text: bytes) -> list[int]:
        words, shape = [*words_of(text), END], self.shape
        found = [row for word in words if (row := self.row_of.get(word)) is not None]
        hashed = [each for word in words if word != END and shape.max_n
                  for each in buckets(word.decode(errors="replace"), shape.min_n, shape.max_n, shape.bucket)]
        if shape.word_ngrams > 1:
            hashed += ngram_buckets(word_hashes(words), shape.word_ngrams, shape.bucket)
        return found + [row for each in hashed if (row := int(self.row_of_bucket[each])) != CUT_OFF]


def learn_features(texts: Sequence[bytes], shape: Shape, *, min_count: int, size: int | None
                   ) -> tuple[Features, Bags, int]:
    """The features of training texts, their bags, and how many words there are; words by falling frequency."""
    numbers, spelled, hashes = _numbered(texts)
    counts = np.bincount(numbers, minlength=len(spelled))
    words = [each for each in np.argsort(-counts, kind="stable").tolist()
             if counts[each] >= min_count and each and spelled[each] not in (END, *MARKS)][:size]
    rows = np.full(len(spelled), -1, np.int64)
    rows[words] = np.arange(1, 1 + len(words))
    rows[[each for each, word in enumerate(spelled) if word == END]] = 0
    features = Features([spelled[each] for each in words], np.zeros(0, np.int64), shape)
    bags, used = _collected(numbers, spelled, hashes, rows, features, grow=True)
    return Features(features.words, used, shape), bags, len(numbers) - len(texts)


def _numbered(texts: Sequence[bytes]) -> tuple[np.ndarray, list[bytes], np.ndarray]:
    """A number for each word and each end of a text, the spelling of each number, and its hash; number 0 is the end."""
    from chainrule.kernels.classifier_text import number_words

    data = np.frombuffer(b"\n".join([*texts, b""]), np.uint8)
    spaces = np.isin(np.arange(256), list(SPACES))
    numbers, room = np.empty(len(data) // 2 + len(texts) + 1, np.int32), max(1 << 12, len(data) >> 4)
    while True:
        slots = np.zeros(1 << (2 * room).bit_length(), np.int32)
        firsts, hashes = np.zeros((room, 2), np.int64), np.zeros(room, np.uint32)
        size, different = number_words(data, spaces, np.uint32(fnv1a(END)), numbers, slots, firsts, hashes)
        if size:
            break
        room *= 4
    whole = data.tobytes()
    spelled = [END, *(whole[low:high] for low, high in firsts[1:different].tolist())]
    return numbers[:size], spelled, hashes[:different]


def _collected(numbers: np.ndarray, spelled: Sequence[bytes], hashes: np.ndarray, rows: np.ndarray,
               features: Features, *, grow: bool) -> tuple[Bags, np.ndarray]:
    """The bags of numbered words, and the buckets that have rows."""
    from chainrule.kernels.classifier_text import collect

    shape, first, texts = features.shape, 1 + len(features.words), int((numbers == 0).sum())
    grams, counts = np.zeros(0, np.int64), np.zeros(len(spelled), np.int64)
    if shape.max_n:
        named = [each for each, word in enumerate(spelled) if word != END]
        grams, counts[named] = all_buckets([spelled[each].decode(errors="replace") for each in named], shape.min_n,
                                           shape.max_n, shape.bucket)
    gram_starts = np.concatenate([[0], np.cumsum(counts)])
    room = int((1 + counts[numbers]).sum()) + len(numbers) * (shape.word_ngrams - 1)
    row_of_bucket = features.row_of_bucket.copy() if grow else features.row_of_bucket
    where = np.full(first + (shape.hashed if grow else len(features.used)), -1, np.int64)
    starts, members = np.zeros(texts + 1, np.int64), np.empty(room, np.int32)
    weights, sizes = np.empty(room, np.float32), np.zeros(texts, np.float32)
    collect(numbers, rows, hashes.view(np.int32), gram_starts, grams, shape.word_ngrams, row_of_bucket, first, grow,
            where, starts, members, weights, sizes)
    used = np.flatnonzero(row_of_bucket >= 0)
    used = used[np.argsort(row_of_bucket[used])]
    return Bags(starts, members[:starts[-1]].copy(), weights[:starts[-1]].copy(), sizes), used
