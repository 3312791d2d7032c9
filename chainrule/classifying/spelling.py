"""Blocks of texts with their words numbered, and the one table of all words that the blocks' own are merged into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.classifying.reference import SPACES

END = b"</s>"
BLOCK = 1 << 20  # bytes of text that are numbered at a time


@dataclass(frozen=True)
class Numbered:
    """Texts as numbers of words: text t is numbers[ends[t]:ends[t + 1]]; number 0 is </s>, with which each ends.

    Word n is spelled data[firsts[n, 0]:firsts[n, 1]]; `hashes` are fastText's.
    """

    data: np.ndarray
    numbers: np.ndarray
    ends: np.ndarray
    firsts: np.ndarray
    hashes: np.ndarray


def blocks(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Texts in lists of about a megabyte; the lists do not depend on the threads, so results do not either."""
    found, size = list[bytes](), 0
    for text in texts:
        found.append(text)
        size += len(text)
        if size >= BLOCK:
            yield found
            found, size = [], 0
    if found:
        yield found


def numbered(texts: Sequence[bytes]) -> Numbered:
    """The words of texts, none of which holds a line end, numbered in the order in which they are met."""
    from chainrule.kernels.classifier_text import number_words

    joined = b"\n".join([*texts, END])
    data, size = np.frombuffer(joined, np.uint8), len(joined) - len(END)
    spaces = np.isin(np.arange(256), list(SPACES))
    numbers, ends = np.empty(size // 2 + len(texts) + 1, np.int32), np.zeros(len(texts) + 1, np.int64)
    room = max(1 << 8, size >> 5)
    while True:
        slots = np.zeros(1 << (2 * room).bit_length(), np.int32)
        firsts, hashes = np.zeros((room, 2), np.int64), np.zeros(room, np.uint32)
        if different := number_words(data, size, spaces, numbers, ends, slots, firsts, hashes):
            return Numbered(data, numbers[: ends[-1]], ends, firsts[:different], hashes[:different])
        room *= 4


class Words:
    """Different words by number, in the order in which they came; number 0 is </s>."""

    def __init__(self) -> None:
        self.size, self.spelled = 0, np.zeros(1 << 12, np.uint8)
        self.places, self.hashes = np.zeros((1 << 8, 2), np.int64), np.zeros(1 << 8, np.uint32)
        self.slots = np.zeros(1 << 10, np.int32)

    @classmethod
    def of(cls, words: Sequence[bytes]) -> Words:
        """These words, numbered from 1 in their order; they are different, and none is </s>."""
        table = cls()
        for some in blocks(words):
            table.add(numbered(some))
        return table

    def add(self, block: Numbered) -> np.ndarray:
        """The numbers of a block's words; new ones are taken in."""
        self._make_room(len(block.firsts), int((block.firsts[:, 1] - block.firsts[:, 0]).sum()))
        return self._found(block, grow=True)

    def find(self, block: Numbered) -> np.ndarray:
        """The numbers of a block's words, −1 for those that are not there."""
        return self._found(block, grow=False)

    def spelling(self, numbers: np.ndarray) -> list[bytes]:
        """How these are spelled."""
        from chainrule.kernels.classifier_text import write_words

        out = np.empty(int((self.places[numbers, 1] - self.places[numbers, 0] + 1).sum()), np.uint8)
        write_words(self.spelled, self.places, numbers, out)
        return out.tobytes().split(b"\n")[:-1]

    def _found(self, block: Numbered, *, grow: bool) -> np.ndarray:
        from chainrule.kernels.classifier_text import find_words

        numbers = np.empty(len(block.firsts), np.int32)
        self.size = find_words(block.data, block.firsts, block.hashes, self.slots, self.spelled, self.places,
                               self.hashes, self.size, grow, numbers)
        return numbers

    def _make_room(self, words: int, size: int) -> None:
        from chainrule.kernels.classifier_text import place_hashes

        used = int(self.places[self.size - 1, 1]) if self.size else 0
        self.spelled = _longer(self.spelled, used, size)
        self.places, self.hashes = _longer(self.places, self.size, words), _longer(self.hashes, self.size, words)
        if 2 * (self.size + words) > len(self.slots):
            self.slots = np.zeros(1 << (2 * (self.size + words)).bit_length(), np.int32)
            place_hashes(self.hashes[: self.size], self.slots)


def _longer(array: np.ndarray, used: int, more: int) -> np.ndarray:
    """The array with room for `more`, at least 1.5 times as long, so that growing costs little in all."""
    if used + more <= len(array):
        return array
    longer = np.zeros((used + max(more, used // 2), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
