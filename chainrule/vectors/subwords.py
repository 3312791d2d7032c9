"""Subwords as fastText has them: character n-grams of <word>, hashed into buckets.

Bojanowski et al. 2017, arXiv:1607.04606: v(w) = mean of the word's own vector and those of its n-grams (the paper says
sum; the program takes the mean). The hash is fastText's to the bit, so that files can be exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chainrule.vectors.windows import Bags


def fnv1a(data: bytes) -> int:
    """The 32-bit FNV-1a hash with fastText's slip, which reads each byte as a signed one."""
    h = 2166136261
    for byte in data:
        h = ((h ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return h


def grams(word: str, shortest: int, longest: int) -> list[str]:
    """The n-grams of <word> in fastText's order: by start, then by length; a mark alone is none."""
    marked = f"<{word}>"
    found = []
    for start in range(len(marked)):
        for end in range(start + shortest, min(start + longest, len(marked)) + 1):
            if not (end - start == 1 and (start == 0 or end == len(marked))):
                found.append(marked[start:end])
    return found


def buckets(word: str, shortest: int, longest: int, bucket: int) -> list[int]:
    """The bucket of each n-gram."""
    return [fnv1a(gram.encode()) % bucket for gram in grams(word, shortest, longest)] if longest else []


def bags_of(words: Sequence[str], shortest: int, longest: int, bucket: int) -> tuple[Bags, np.ndarray]:
    """Each word's rows: its own, then those of its n-grams; and the bucket of each row after the words'.

    Only buckets that some word needs have a row: the others would stay as they began, and take memory.
    """
    hashed, sizes = all_buckets(words, shortest, longest, bucket)
    starts = np.concatenate([[0], np.cumsum(1 + sizes)]).astype(np.int64)
    used, where = np.unique(hashed, return_inverse=True)
    members = np.empty(int(starts[-1]), np.int32)
    own = np.zeros(len(members), bool)
    own[starts[:-1]] = True
    members[own], members[~own] = np.arange(len(words)), len(words) + where
    return Bags(starts, members, len(words) + len(used)), used


def all_buckets(words: Sequence[str] | Sequence[bytes], shortest: int, longest: int,
                bucket: int) -> tuple[np.ndarray, np.ndarray]:
    """The buckets of every word's n-grams, one word after the other, and how many each has."""
    from chainrule.kernels.vectors_subwords import hash_grams

    marked = [b"<%b>" % (word.encode() if isinstance(word, str) else word) for word in words]
    data = np.frombuffer(b"".join(marked), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in marked])]).astype(np.int64)
    counts = np.zeros(len(words), np.int64)
    total = hash_grams(data, offsets, shortest, longest, bucket, counts, np.zeros(0, np.int64))
    found = np.zeros(total, np.int64)
    if total:
        hash_grams(data, offsets, shortest, longest, bucket, counts, found)
    return found, counts


class BagOfGrams:
    """Vectors of unseen words: the mean over their n-grams; one whose bucket no word had counts as zero."""

    def __init__(self, table: np.ndarray, used: np.ndarray, shortest: int, longest: int, bucket: int):
        self.table, self.used = table, used  # row r belongs to bucket used[r]; `used` is sorted
        self.shortest, self.longest, self.bucket = shortest, longest, bucket

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, np.ndarray]) -> BagOfGrams:
        """Of `grams` (G, D), `buckets` (G,) and `shape` (shortest, longest, bucket)."""
        return cls(tensors["grams"], tensors["buckets"], *tensors["shape"].tolist())

    def rows(self, word: str) -> list[int]:
        """The rows of the word's n-grams that are there."""
        hashed = np.array(buckets(word, self.shortest, self.longest, self.bucket), np.int64)
        where = np.minimum(np.searchsorted(self.used, hashed), len(self.used) - 1)
        return where[self.used[where] == hashed].tolist()

    def vector(self, word: str) -> np.ndarray | None:
        """(D,), or None for a word that is too short to have n-grams."""
        count = len(buckets(word, self.shortest, self.longest, self.bucket))
        if not count or not len(self.used):
            return None
        return self.table[self.rows(word)].sum(0, dtype=np.float32) / np.float32(count)
