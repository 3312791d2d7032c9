"""Tags of words that were never seen, by how they end."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chainrule.counting.hidden_markov.counts import FLAGS, TagCounts, flag

DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Endings:
    r"""P(t | l_i … l_n) = (c(l_i … l_n, t) + μ P(t | l_{i+1} … l_n)) / (c(l_i … l_n) + μ)

    From the shortest ending to the longest that rare words have: Samuelsson 1993; Brants 2000, "TnT", §2.3. Words with
    a capital and without have endings of their own. Departures: TnT gives every ending the same weight 1 / (1 + θ),
    however seldom it occurs; on the development sentences of UD English-EWT that is 0.5 points worse (92.47 % of tags
    right against 92.97). Letters are in lower case, every digit is 0. Below the empty ending lie all words.
    """

    numbers: dict[tuple[int, str], int]  # of an ending and a flag
    starts: np.ndarray
    tags: np.ndarray  # of the i-th ending from starts[i], with their counts
    counts: np.ndarray
    share_FC: np.ndarray  # of each tag among all words, by flag
    longest: int
    strength: float  # μ

    def tags_of(self, word: str) -> np.ndarray:
        """(C,): P(tag | how the word ends)."""
        return self.along(word)[-1][2]

    def along(self, word: str) -> list[tuple[str, int, np.ndarray]]:
        """Each ending that rare words have, from the shortest: how many of their occurrences, and P(tag | ending)."""
        kind, spelled = flag(word), spelling(word)
        p = self.share_FC[kind]
        found = []
        for length in range(min(self.longest, len(spelled)) + 1):
            ending = spelled[len(spelled) - length:]
            number = self.numbers.get((kind, ending))
            if number is None:
                break
            own = slice(self.starts[number], self.starts[number + 1])
            total = self.counts[own].sum()
            p = self.strength * p
            p[self.tags[own]] += self.counts[own]
            p /= total + self.strength
            found.append((ending, int(total), p))
        return found or [("", 0, p)]


def spelling(word: str) -> str:
    """As endings are compared."""
    return DIGIT.sub("0", word).lower()


def learned(counts: TagCounts, longest: int, rare: int, strength: float) -> Endings:
    """From the words that occur at most `rare` times; from all, if there are none."""
    per_word = np.add.reduceat(counts.word_counts, counts.starts[:-1]) if len(counts.words) else np.zeros(0, np.int64)
    flags = np.array([flag(word) for word in counts.words], np.int64)
    kept = np.flatnonzero(per_word <= rare) if (per_word <= rare).any() else np.arange(len(per_word))
    numbers: dict[tuple[int, str], int] = {}
    owners, endings = [], []
    for word in kept.tolist():
        spelled = spelling(counts.words[word])
        for length in range(min(longest, len(spelled)) + 1):
            key = int(flags[word]), spelled[len(spelled) - length:]
            endings.append(numbers.setdefault(key, len(numbers)))
            owners.append(word)
    starts, tags, found = _summed(counts, np.array(owners, np.int64), np.array(endings, np.int64), len(numbers))
    return Endings(numbers, starts, tags, found, _shares(counts, flags), longest, strength)


def _summed(counts: TagCounts, owners: np.ndarray, endings: np.ndarray, size: int
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The counts of tags of each ending: those of the words that end so."""
    many = np.diff(counts.starts)[owners]
    places = np.repeat(counts.starts[owners] - np.cumsum(many) + many, many) + np.arange(many.sum())
    keys, which = np.unique(np.repeat(endings, many) * len(counts.tags) + counts.word_tags[places], return_inverse=True)
    found = np.bincount(which, counts.word_counts[places], len(keys))
    starts = np.searchsorted(keys, np.arange(size + 1) * len(counts.tags))
    return starts, keys % len(counts.tags), found


def _shares(counts: TagCounts, flags: np.ndarray) -> np.ndarray:
    """(FLAGS, C): how frequent each tag is among words with a flag, or among all where none has it."""
    table_FC = np.zeros((FLAGS, len(counts.tags)))
    np.add.at(table_FC, (np.repeat(flags, np.diff(counts.starts)), counts.word_tags), counts.word_counts)
    table_FC[table_FC.sum(axis=1) == 0] = table_FC.sum(axis=0)
    return table_FC / table_FC.sum(axis=1, keepdims=True)
