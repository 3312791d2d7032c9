"""Means of many texts' word vectors, and how many of their words have one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.vectors.evaluations._evaluation import row_of
from chainrule.vectors.store import Vectors

AT_ONCE = 256  # texts whose vectors are in memory together
EDGES = "\"'.,;:!?()[]{}<>-–—“”‘’…*"  # marks that text which is not tokenized has at its words


class Means:
    """`of(texts)` are their means; words are looked up as they are, in lower case, and without marks around them."""

    def __init__(self, vectors: Vectors):
        self.vectors = vectors
        self.rows: dict[str, int] = {}  # of the words so far: in the table, from −2 down in `composed`, or −1
        self.composed: list[np.ndarray] = []  # vectors that subwords gave
        self.words = self.known = 0

    @property
    def coverage(self) -> float:
        """The share of words that had a vector."""
        return self.known / max(1, self.words)

    def of(self, texts: Sequence[Sequence[str]]) -> np.ndarray:
        """(texts, D): zeros where no word has a vector."""
        found = np.zeros((len(texts), self.vectors.dimension))
        for low in range(0, len(texts), AT_ONCE):
            rows = [[row for word in text if (row := self._row(word)) != -1] for text in texts[low : low + AT_ONCE]]
            self.words += sum(map(len, texts[low : low + AT_ONCE]))
            self.known += sum(map(len, rows))
            for number, each in enumerate(rows):
                if each:
                    found[low + number] = self._vectors(np.array(each)).mean(0)
        return found

    def _row(self, word: str) -> int:
        row = self.rows.get(word)
        if row is None:
            row = row_of(self.vectors, word)
            if row < 0 and (bare := word.strip(EDGES)) and bare != word:
                row = row_of(self.vectors, bare)
            if row < 0 and self.vectors.subwords is not None:
                row = self._compose(word.lower())
            self.rows[word] = row
        return row

    def _compose(self, word: str) -> int:
        assert self.vectors.subwords is not None
        vector = self.vectors.subwords.vector(word)
        if vector is None:
            return -1
        self.composed.append(vector)
        return -1 - len(self.composed)

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        found = np.asarray(self.vectors.table[np.maximum(rows, 0)], np.float32)
        for place in np.flatnonzero(rows < 0):
            found[place] = self.composed[-2 - rows[place]]
        return found
