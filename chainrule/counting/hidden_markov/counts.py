"""What a hidden Markov model counts: tags after tags, and words with their tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.storage.index_arrays import Arrays

FLAGS = 2  # of a word: begins with a capital or not


def flag(word: str) -> int:
    """1 where a word begins with a capital."""
    return int(word[:1].isupper())


@dataclass(frozen=True)
class TagCounts:
    """A state is a tag together with the flag of its word: state = FLAGS · tag + flag. The last state is the boundary.

    Brants 2000, "TnT", §2.4: with capitals the tags are as good as doubled, and a word allows half of them.
    """

    tags: Sequence[str]
    words: Sequence[str]
    starts: np.ndarray  # (words + 1,): where the tags of each word begin in `word_tags` and `word_counts`
    word_tags: np.ndarray
    word_counts: np.ndarray
    trigrams_R3: np.ndarray  # three states in a row; two boundaries precede a sentence, and one follows it
    trigram_counts: np.ndarray

    @property
    def states(self) -> int:
        """All but the boundary, which has this number."""
        return FLAGS * len(self.tags)

    def tensors(self) -> dict[str, np.ndarray]:
        return {"starts": self.starts, "word_tags": self.word_tags, "word_counts": self.word_counts,
                "trigrams": self.trigrams_R3, "trigram_counts": self.trigram_counts}


def counted(sentences: Iterable[tuple[Sequence[str], Sequence[str]]]) -> TagCounts:
    """The counts of sentences: their words, and a tag for each."""
    of_words: dict[str, Counter[int]] = {}
    numbers: dict[str, int] = {}
    states: list[list[int]] = []
    for words, tags in sentences:
        row = []
        for word, tag in zip(words, tags, strict=True):
            number = numbers.setdefault(tag, len(numbers))
            of_words.setdefault(word, Counter())[number] += 1
            row.append(FLAGS * number + flag(word))
        if row:
            states.append(row)
    names = sorted(numbers)
    place = np.zeros(len(names), np.int64)  # of a tag by the order in which it was met
    for new, name in enumerate(names):
        place[numbers[name]] = new
    vocabulary = sorted(of_words)
    entries = [sorted((int(place[number]), count) for number, count in of_words[word].items()) for word in vocabulary]
    flat = np.array([pair for own in entries for pair in own], np.int64).reshape(-1, 2)
    trigrams_R3, counts = _trigrams(states, place)
    return TagCounts(names, vocabulary, np.cumsum([0, *map(len, entries)], dtype=np.int64), flat[:, 0].astype(np.int32),
                     flat[:, 1], trigrams_R3, counts)


def _trigrams(states: Sequence[Sequence[int]], place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different ones (R, 3), sorted, and how often each occurs."""
    boundary = FLAGS * len(place)
    numbers = np.append(FLAGS * np.repeat(place, FLAGS) + np.tile(np.arange(FLAGS), len(place)), boundary)
    met = np.array([state for row in states for state in (boundary, boundary, *row, boundary)], np.int64)
    line = numbers[met]
    triples = np.stack([line[:-2], line[1:-1], line[2:]], axis=1) if len(line) else np.zeros((0, 3), np.int64)
    triples = triples[(triples[:, 1:] != boundary).any(axis=1) & ~((triples[:, 0] != boundary)
                                                                  & (triples[:, 1] == boundary))]
    found, counts = np.unique(triples, axis=0, return_counts=True)
    return found.astype(np.int32), counts.astype(np.int64)


def from_arrays(arrays: Arrays, tags: Sequence[str], words: Sequence[str]) -> TagCounts:
    """The reverse of `tensors`; what points outside its target is an error that names the file."""
    arrays.only({"starts", "word_tags", "word_counts", "trigrams", "trigram_counts"})
    size = len(arrays.get("word_tags", np.integer, None))
    arrays.get("starts", np.integer, len(words) + 1)
    arrays.get("word_counts", np.integer, size)
    arrays.offsets("starts", size)
    arrays.below("word_tags", len(tags))
    rows = len(arrays.get("trigrams", np.integer, None, 3))
    arrays.get("trigram_counts", np.integer, rows)
    found = TagCounts(tags, words, *(np.array(arrays.named[name]) for name in (
        "starts", "word_tags", "word_counts", "trigrams", "trigram_counts")))
    if rows and not 0 <= found.trigrams_R3.min() <= found.trigrams_R3.max() <= found.states:
        raise arrays.broken("trigrams", f"points outside its target, expected 0 to {found.states:,}")
    for name in ("word_counts", "trigram_counts"):
        if len(arrays.named[name]) and arrays.named[name].min() < 1:
            raise arrays.broken(name, "has a count below 1")
    return found
