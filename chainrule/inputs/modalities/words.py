"""Words, each with its characters: what taggers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.inputs.arrays import padded
from chainrule.inputs.modalities._modality import Facts, Modality
from chainrule.inputs.modalities.text import shortened
from chainrule.recipe.registry import part
from chainrule.task_protocols import Small

if TYPE_CHECKING:
    from chainrule.jobs import Job

UNKNOWN = 0  # the row of words that are not in the table, and of words without a vector
PADDING, OTHER, BEGIN, END = range(4)  # characters: none, one that training never had, before and after a word
OWN = 2  # numbers of an input before its characters: its row in the table of words, and in that of vectors
USUAL = 100  # different characters, where nothing is known yet


@part
class Words(Modality):
    """Words, as a row of a table in lower case, perhaps a vector that was learned before, and their characters.

    (word, vector, <, c₁ … c_n, >), filled up with 0; of a word with more than `longest` characters the first and the
    last are read. In training a word that occurs n times becomes the unknown one with probability r / (r + n), r being
    `rare`, so that the unknown word has a trained vector: Kiperwasser & Goldberg 2016, arXiv:1603.04351, §4. Words that
    occur less than `min_count` times have no row. `vectors` names a run or a file of word vectors, whose `most` first
    words are kept; they are looked up as they are written, else in lower case.
    """

    called, plural = "text", "texts"
    by_word = True  # one input for each word, so that each can have a tag

    def __init__(self, *, min_count: int = 1, longest: int = 20, rare: float = 0.25, vectors: str | None = None,
                 most: int = 100_000):
        for name, value, good in (("min_count", min_count, min_count > 0), ("longest", longest, longest > 0),
                                  ("most", most, most > 0)):
            if not good:
                raise OptionError(f"task.inputs.{name}", value, "at least 1")
        if rare < 0:
            raise OptionError("task.inputs.rare", rare, "at least 0", "0 never hides a word.")
        self.min_count, self.longest, self.rare, self.vectors, self.most = min_count, longest, rare, vectors, most
        self._chances: tuple[Any, np.ndarray] = (None, np.zeros(0))  # of each word to be hidden, by the facts
        self._tables: tuple[Any, tuple[dict[str, int], ...]] = (None, ())

    def small(self, folder: Path) -> Small:
        lines = ["__label__x a cat sat", "__label__y the dog ran away", "__label__x cats"]
        (folder / "labeled.txt").write_text("\n".join(lines * 4) + "\n", encoding="utf-8")
        return Small(folder / "labeled.txt", recipe={"tokenizer": None, "model": {
            "embedding": "words_by_convolution", "head": "untied", "pooling": "mean"}})

    def learn(self, values: Sequence[Any], job: Job) -> tuple[None, dict[str, Any]]:
        """A run that training starts from has its words."""
        if job.start is not None and "words" in (known := job.start.facts.get("inputs", {})):
            return None, dict(known)
        counts, characters = Counter[str](), Counter[str]()
        for value in values:
            for word in words_of(value):
                counts[word.lower()] += 1
                characters.update(word)
        kept = sorted((word for word in counts if counts[word] >= self.min_count), key=lambda word: (-counts[word],
                                                                                                   word))
        facts: dict[str, Any] = {"words": kept, "counts": [counts[word] for word in kept],
                                 "characters": sorted(characters)}
        return None, facts | ({} if self.vectors is None else {"vectors": self._vectors(self.vectors)})

    def _vectors(self, source: str) -> dict[str, Any]:
        from chainrule.vectors.opening import open_vectors

        found = open_vectors(source, "task.inputs.vectors")
        return {"source": source, "width": int(found.dimension), "words": list(islice(found.words, self.most))}

    def sizes(self, vocabulary: int, facts: Facts) -> tuple[int, tuple[int, ...]]:
        """Words with the unknown one; then how many characters a word has at most, how many there are, how many words
        have a vector, and its numbers."""
        own = facts.get("vectors") or {"words": [], "width": 0}
        letters = len(facts["characters"]) if "characters" in facts else USUAL
        return (len(facts["words"]) + 1 if "words" in facts else max(1, vocabulary)), (
            self.longest + 2, letters + END + 1, len(own["words"]) + 1 if own["words"] else 0, own["width"])

    def knows(self, word: str, facts: Facts) -> bool:
        """Whether it has a row of its own."""
        return word.lower() in self._ids(facts)[0]

    def encode(self, values: Sequence[Any], tokenizer: Any, facts: Facts, most: int) -> list[np.ndarray]:
        """(t, 2 + characters) of each text; of one that is too long the first and the last words."""
        rows: dict[str, np.ndarray] = {}
        found = []
        for value in values:
            words = words_of(value)
            for word in words:
                if word not in rows:
                    rows[word] = self._row(word, *self._ids(facts))
            own = np.stack([rows[word] for word in words]) if words else self._row("", *self._ids(facts))[None]
            found.append(shortened(own, most))
        return found

    def _row(self, word: str, words: dict[str, int], characters: dict[str, int], vectors: dict[str, int]) -> np.ndarray:
        found = np.zeros(OWN + self.longest + 2, np.int32)
        found[0] = words.get(word.lower(), UNKNOWN)
        found[1] = vectors.get(word, vectors.get(word.lower(), UNKNOWN))
        spelled = shortened(np.array([characters.get(each, OTHER) for each in word], np.int32), self.longest)
        found[OWN:OWN + len(spelled) + 2] = [BEGIN, *spelled, END]
        return found

    def _ids(self, facts: Facts) -> tuple[dict[str, int], ...]:
        """The numbers of words, characters and words with vectors."""
        if self._tables[0] is not facts:
            own = (facts.get("vectors") or {"words": []})["words"]
            self._tables = facts, tuple({name: n for n, name in enumerate(names, start=first)} for names, first in (
                (facts["words"], UNKNOWN + 1), (facts["characters"], END + 1), (own, UNKNOWN + 1)))
        return self._tables[1]

    def names(self, array: np.ndarray, tokenizer: Any) -> list[str]:
        return [str(n + 1) for n in range(len(array))]

    def batch(self, arrays: Sequence[np.ndarray], facts: Facts, draw: np.random.Generator | None
              ) -> tuple[np.ndarray, np.ndarray]:
        found = padded(arrays)
        used = int(np.flatnonzero(found.any(axis=(0, 1)))[-1]) + 1 if found.any() else OWN + 1
        found = found[:, :, :max(used, OWN + 1)]
        if draw is not None and self.rare:
            ids = found[:, :, 0]
            ids[draw.random(ids.shape) < self._hidden(facts)[ids]] = UNKNOWN
        return found, np.array([len(each) for each in arrays])

    def _hidden(self, facts: Facts) -> np.ndarray:
        """(words + 1,): the chance of each to be hidden."""
        if self._chances[0] is not facts:
            counts = np.array(facts["counts"], np.float64)
            self._chances = facts, np.append(0.0, self.rare / (self.rare + counts))
        return self._chances[1]


def words_of(value: Any) -> Sequence[str]:
    """A text's words, between white space; or a sequence of words as it is."""
    return value.decode(errors="replace").split() if isinstance(value, bytes) else value
