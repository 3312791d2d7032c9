"""Merging counts: several tries become one, level by level, exactly as if their texts had been counted together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chainrule.counting.count import JIT_PAYS_FROM
from chainrule.counting.counts import Counts, Level, continuation_ids
from chainrule.counting.scratch import Scratch
from chainrule.errors import DataError

MOST = 1 << 32  # no n-gram occurs more often than its words, so a look at the words is enough
Merged = tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]  # starts, words, counts; each part's map into them


def merge(parts: Sequence[Counts], scratch: Scratch) -> Counts:
    """All parts as one, pair by pair, so that each n-gram is moved about log₂(parts) times."""
    waiting = list(parts)
    merge_level = _merge_level_plainly
    if sum(len(part.levels[-1]) for part in parts) >= JIT_PAYS_FROM:
        from chainrule.kernels.merge import merge_level
    while len(waiting) > 1:
        odd = waiting[-1:] if len(waiting) % 2 else []
        pairs = zip(waiting[::2], waiting[1::2], strict=False)
        waiting = [_merge_two(one, other, merge_level, scratch) for one, other in pairs] + odd
    return waiting[0]


def _merge_two(one: Counts, other: Counts, merge_level: Callable[..., Merged], scratch: Scratch) -> Counts:
    """A node of order n is a merged node of order n−1 and a word: each level merges two sorted lists of such pairs."""
    assert (one.order, one.start, one.vocabulary_size) == (other.order, other.start, other.vocabulary_size)
    words = one.levels[0].words
    if int(one.levels[0].counts.max(initial=0)) + int(other.levels[0].counts.max(initial=0)) >= MOST:
        raise DataError(f"a token occurs more than {MOST - 1:,} times, more than the counts can hold. Count less text.")
    occurrences = one.levels[0].counts + other.levels[0].counts
    maps = [words.astype(np.uint32)] * 2  # each part's nodes of the level below, in the merged trie
    levels = []
    for n in range(2, one.order + 1):
        below, here = ([part.levels[i] for part in (one, other)] for i in (n - 2, n - 1))
        starts, found, times, maps = merge_level(below, here, maps, len(words), scratch)
        levels.append(Level(words, occurrences, starts))
        words, occurrences = found, times
    levels.append(Level(words, occurrences, None))
    return Counts(levels, one.start)


def _merge_level_plainly(below: list[Level], here: list[Level], maps: list[np.ndarray], contexts: int,
                         scratch: Scratch) -> Merged:
    """starts, words and counts of the merged level, and each part's map into it."""
    size = max(int(level.words.max(initial=0)) for level in here) + 1
    pairs = [_pairs(under, level, into, size) for under, level, into in zip(below, here, maps, strict=True)]
    distinct, rank = np.unique(np.concatenate(pairs), return_inverse=True)
    times = np.bincount(rank, np.concatenate([level.counts for level in here]), len(distinct)).astype(np.uint32)
    owners, words = np.divmod(distinct, size)
    starts = np.searchsorted(owners, np.arange(contexts + 1)).astype(np.uint32)
    cuts = np.cumsum([len(level) for level in here])[:-1]
    return starts, words.astype(np.int32), times, [m.astype(np.uint32) for m in np.split(rank, cuts)]


def _pairs(below: Level, here: Level, into: np.ndarray, size: int) -> np.ndarray:
    assert below.starts is not None
    return continuation_ids(np.repeat(into, np.diff(below.starts)), size, here.words)


def stored(counts: Counts, scratch: Scratch) -> Counts:
    """The same counts where the scratch keeps its arrays: out of memory, if that is limited."""
    def moved(array: np.ndarray) -> np.ndarray:
        if scratch.limit is None:
            return array
        found = scratch.empty(len(array), array.dtype.type)
        found[:] = array
        scratch.relax()
        return found

    return Counts([Level(moved(level.words), moved(level.counts), None if level.starts is None else moved(level.starts))
                   for level in counts.levels], counts.start)


def renumber(counts: Counts, mapping: np.ndarray, vocabulary_size: int, start: int) -> Counts:
    """The counts of the same text under other word ids; words mapped to one id become one."""
    occurrences = np.bincount(mapping, counts.levels[0].counts, vocabulary_size).astype(np.uint32)
    words = np.arange(vocabulary_size, dtype=np.int32)
    into, levels = np.asarray(mapping), []
    for below, here in zip(counts.levels[:-1], counts.levels[1:], strict=True):
        assert below.starts is not None
        pairs = continuation_ids(np.repeat(into, np.diff(below.starts)), vocabulary_size, mapping[here.words])
        distinct, rank = np.unique(pairs, return_inverse=True)
        owners, last_words = np.divmod(distinct, vocabulary_size)
        starts = np.searchsorted(owners, np.arange(len(words) + 1)).astype(np.uint32)
        levels.append(Level(words, occurrences, starts))
        words, into = last_words.astype(np.int32), rank
        occurrences = np.bincount(rank, here.counts, len(distinct)).astype(np.uint32)
    levels.append(Level(words, occurrences, None))
    return Counts(levels, start)
