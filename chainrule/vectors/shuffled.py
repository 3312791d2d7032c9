"""Counts of pairs in a random order for GloVe, out of core: pieces that fit the cache, each in a new order each time.

GloVe's own program shuffles its file in chunks and then mixes them. Here words are in groups, and a piece has pairs of
two groups only, so that the rows it needs stay in the cache: about twice as fast, at the same cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.counting.scratch import Scratch
from chainrule.threads import frozen
from chainrule.vectors.cooccurrence import ONE, Pairs
from chainrule.vectors.windows import seed_of

ENTRY = np.dtype([("row", np.int32), ("column", np.int32), ("weight", np.float32), ("log", np.float32)])
CACHE = 8 << 20  # bytes of rows that two groups of words may have
PIECE = 1 << 16  # entries that a thread gets at a time
BLOCK = 1 << 18  # pairs that are put into place between two looks at the memory


@dataclass(frozen=True)
class Entries:
    """Rows, f(x) and ln x of each pair; piece p is entries[starts[p] : starts[p + 1]]."""

    entries: np.ndarray
    starts: np.ndarray
    scratch: Scratch

    def piece(self, number: int, seed: int) -> np.ndarray:
        """A copy of a piece, in the order that the seed gives."""
        from chainrule.kernels.vectors_glove import shuffle

        found = np.array(self.entries[self.starts[number] : self.starts[number + 1]])
        shuffle(found, seed_of(seed, number))
        return found

    def __len__(self) -> int:
        return len(self.entries)


def shuffled(pairs: Pairs, *, x_max: float, exponent: float, bytes_a_word: int, scratch: Scratch) -> Entries:
    """The entries of pairs, by pieces: the same wherever the scratch lies."""
    from chainrule.kernels.vectors_glove import count_tiles, fill_tiles

    count, size = len(pairs.keys), pairs.vocabulary_size
    groups = group_count(count, size * bytes_a_word)
    splits = max(1, count // (PIECE * groups * (groups + 1) // 2))
    sizes = np.zeros(groups * (groups + 1) // 2 * splits, np.int64)
    for keys, _ in _blocks(pairs, scratch):
        count_tiles(keys, size, groups, splits, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places, entries = starts[:-1].copy(), scratch.empty(4 * count, np.int32).view(ENTRY)
    for keys, sums in _blocks(pairs, scratch):
        fill_tiles(keys, sums / ONE, size, groups, splits, places, x_max, exponent, entries)
    return Entries(entries, starts, scratch)


def group_count(pairs: int, table: int) -> int:
    """So many groups of words that two of them fit the cache, but no more than there are pairs for whole pieces."""
    return max(1, min(-(-2 * table // CACHE), int((2 * pairs / PIECE) ** 0.5)))


def _blocks(pairs: Pairs, scratch: Scratch) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for low in range(0, len(pairs.keys), BLOCK):
        yield frozen(pairs.keys[low : low + BLOCK]), pairs.sums[low : low + BLOCK]
        scratch.relax()
