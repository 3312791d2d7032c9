"""The features of training texts, learned in one pass over them: threads number blocks, which are merged in order."""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from chainrule.classifying.features import NO_ROW, Bags, Features, Shape, empty_bags, raw_bags, resolve_rows
from chainrule.classifying.reference import words_of
from chainrule.classifying.spelling import END, Numbered, Words, blocks, numbered

Read = tuple[Numbered, np.ndarray, Bags]  # the words of a block, how often each occurs, and its texts
MARKS = (b"<unk>", b"<s>")  # of the tokenizer: never words


def learn_features(texts: Iterable[bytes], shape: Shape, *, min_count: int, size: int | None, threads: int = 1,
                   more: Sequence[bytes] = (), more_buckets: Sequence[int] | np.ndarray = ()
                   ) -> tuple[Features, Bags, int]:
    """The features of training texts, their bags, and how many words there are; words by falling frequency.

    Words of `more` have rows however rare they are, those that no text has behind the others; so have `more_buckets`.
    Texts are read once and not kept. Buckets get their rows in the order in which texts need them. The number of
    threads changes nothing.
    """
    table, counts, store = Words(), np.zeros(0, np.int64), _Store()
    for block, occur, raw in _read(texts, shape, threads):
        names = table.add(block)
        counts = np.concatenate([counts, np.zeros(table.size - len(counts), np.int64)])
        counts[names] += occur
        store.add(raw, names)
    plain = [word for word in dict.fromkeys(more) if words_of(word) == [word] and word not in (END, *MARKS)]
    kept = _frequent(table, counts, min_count)[:size]
    kept = np.concatenate([kept, _others(table, kept, plain)])
    rows = np.full(max(table.size, 1), NO_ROW, np.int32)
    rows[kept] = np.arange(1, 1 + len(kept))
    rows[0] = 0
    words = table.spelling(kept)
    there = set(words)
    words += [word for word in plain if word not in there]
    del table, there
    row_of_bucket = np.full(shape.hashed, NO_ROW, np.int32)
    bags = store.resolved(rows, row_of_bucket, 1 + len(words))
    used = np.flatnonzero(row_of_bucket >= 0)
    used = used[np.argsort(row_of_bucket[used])]
    used = np.concatenate([used, np.setdiff1d(np.asarray(more_buckets, used.dtype), used)])
    _give_back()
    return Features(words, used, shape), bags, int(counts.sum()) - len(bags)


def _others(table: Words, kept: np.ndarray, more: Sequence[bytes]) -> np.ndarray:
    """The numbers of words of `more` that texts have, too rarely to be kept, in the order of their first appearance."""
    if not more:
        return kept[:0]
    numbers = table.find(numbered(more))
    return np.setdiff1d(numbers[numbers > 0], kept)


def _give_back() -> None:
    """Returns freed memory to the system, if its C library can: the blocks fragmented it, and large tables follow."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _frequent(table: Words, counts: np.ndarray, min_count: int) -> np.ndarray:
    """The numbers of words with a row, by falling frequency, then by first appearance."""
    counts = counts.copy()
    counts[:1] = 0  # </s>
    marks = table.find(numbered(MARKS))
    counts[marks[marks >= 0]] = 0
    order = np.argsort(-counts, kind="stable")
    return order[: int((counts >= max(min_count, 1)).sum())]


def _read(texts: Iterable[bytes], shape: Shape, threads: int) -> Iterator[Read]:
    """Blocks in the order of the texts; only a few are processed at a time, so memory stays bounded."""
    def work(some: list[bytes]) -> Read:
        block = numbered(some)
        occur = np.bincount(block.numbers, minlength=len(block.firsts))
        return replace(block, numbers=block.numbers[:0].copy()), occur, raw_bags(block, shape)

    under_way: deque[Future[Read]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for some in blocks(texts):
            under_way.append(pool.submit(work, some))
            if len(under_way) > threads + 1:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


class _Store:
    """The bags of all blocks in arrays that grow in place: the system moves pages, and copies nothing."""

    def __init__(self) -> None:
        self.bags, self.texts, self.size = empty_bags(0, 0), 0, 0

    def add(self, raw: Bags, names: np.ndarray) -> None:
        """Bags with words by the numbers of their block, which have these names here."""
        from chainrule.kernels.classifier_text import rename

        bags, texts, size = self.bags, self.texts + len(raw), self.size + len(raw.members)
        for array, room in ((bags.members, size), (bags.weights, size), (bags.sizes, texts), (bags.starts, texts + 1)):
            if room > len(array):
                array.resize(max(room, len(array) * 5 // 4), refcheck=False)
        rename(raw.members, names, bags.members[self.size : size])
        bags.weights[self.size : size] = raw.weights
        bags.sizes[self.texts : texts] = raw.sizes
        bags.starts[self.texts + 1 : texts + 1] = self.size + raw.starts[1:]
        self.texts, self.size = texts, size

    def resolved(self, rows: np.ndarray, row_of_bucket: np.ndarray, first: int) -> Bags:
        """Rows in the place of words and buckets, the latter from `first`, written over what was there."""
        bags = self.bags
        bags.sizes.resize(self.texts, refcheck=False)
        bags.starts.resize(self.texts + 1, refcheck=False)
        self.size = resolve_rows(bags, rows, row_of_bucket, bags, first, grow=True)
        bags.members.resize(self.size, refcheck=False)
        bags.weights.resize(self.size, refcheck=False)
        return bags
