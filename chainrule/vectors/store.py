"""The store of word vectors: look up, compare, search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from chainrule.errors import DataError, UsageError, did_you_mean
from chainrule.vectors import search

Asked = str | np.ndarray  # a word, or a vector


class UnknownWord(DataError, KeyError):
    """A word without a vector; also a KeyError, as for a dict."""

    __str__ = Exception.__str__


class Subwords(Protocol):
    """What gives vectors to words that were never seen."""

    def vector(self, word: str) -> np.ndarray | None:
        """None where the word has no parts that are known."""
        ...


class Index(Protocol):
    """What finds near rows without looking at all."""

    def nearest(self, aim: np.ndarray, count: int) -> np.ndarray:
        """Rows of about the `count` vectors of largest cosine with the aim."""
        ...


class Vectors:
    """`vectors["king"]`; row r of `table` is the vector of `words[r]`, most frequent first.

    The table may be a memory map of any size: searches read it a block at a time.
    """

    def __init__(self, words: Sequence[str], table: np.ndarray, *, counts: np.ndarray | None = None,
                 subwords: Subwords | None = None):
        if len(words) != len(table):
            raise UsageError(f"Vectors has {len(words):,} words for {len(table):,} rows, expected as many.")
        self.words, self.table, self.counts, self.subwords = words, table, counts, subwords
        self.dimension = table.shape[1]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def norms(self) -> np.ndarray:
        """(V,) lengths of the vectors; 1 where one is zero."""
        return search.norms(self.table)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def __getitem__(self, word: str | Sequence[str]) -> np.ndarray:
        """The vector of a word, or the vectors of several as rows."""
        if isinstance(word, str):
            return self.vector(word)
        return np.stack([self.vector(each) for each in word])

    def vector(self, word: str) -> np.ndarray:
        """(D,), composed of subwords where the word was never seen and the model has them."""
        row = self.rows.get(word)
        if row is not None:
            return np.asarray(self.table[row])
        found = None if self.subwords is None else self.subwords.vector(word)
        if found is None:
            raise UnknownWord(f"{word}: none of the {len(self):,} words that have a vector."
                              f"{_near(word, self.words)}")
        return found

    def most_similar(self, positive: Asked | Iterable[Asked] = (), negative: Asked | Iterable[Asked] = (), *,
                     topn: int = 10, restrict_vocab: int | None = None, index: Index | None = None
                     ) -> list[tuple[str, float]]:
        """The words whose vectors have the largest cosine with Σ positive − Σ negative (each of length 1).

        The words asked for are not among them. `restrict_vocab` searches only so many most frequent words. The search
        is exact without an `index`; with one (`vectors.approximate.NearIndex`) a neighbor may be missed.
        """
        signs = [(1.0, each) for each in several(positive)] + [(-1.0, each) for each in several(negative)]
        if not signs:
            raise UsageError("most_similar needs a word, for example: vectors.most_similar('king').")
        aim = np.sum([sign * self.unit(each) for sign, each in signs], axis=0)
        if index is not None:
            if restrict_vocab is not None:
                raise UsageError("most_similar has an index and restrict_vocab, expected one of them.")
            return self._among(index, aim, [each for _, each in signs], topn)
        scores = search.cosines(self._searched(restrict_vocab), self.norms, aim)
        return self._best(scores, [each for _, each in signs], topn)

    def analogy(self, a: str, b: str, c: str, *, topn: int = 10, restrict_vocab: int | None = None,
                method: str = "3CosAdd") -> list[tuple[str, float]]:
        """a is to b as c is to …: `analogy("man", "woman", "king")` looks for queen.

        3CosAdd: argmax cos(x, b − a + c), Mikolov et al. 2013. 3CosMul: argmax cos(x,b) cos(x,c) / (cos(x,a) + ε) with
        cosines taken to [0, 1], Levy & Goldberg 2014.
        """
        if method == "3CosAdd":
            return self.most_similar([b, c], [a], topn=topn, restrict_vocab=restrict_vocab)
        if method != "3CosMul":
            raise UsageError(f"method = {method!r}, expected '3CosAdd' or '3CosMul'.")
        table = self._searched(restrict_vocab)
        to_a, to_b, to_c = ((1 + search.cosines(table, self.norms, self.unit(word))) / 2 for word in (a, b, c))
        return self._best(to_b * to_c / (to_a + 0.001), [a, b, c], topn)

    def similarity(self, one: Asked, other: Asked) -> float:
        """The cosine of two words."""
        return float(self.unit(one) @ self.unit(other))

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word that is farthest from the mean of all."""
        if len(words) < 2:
            raise UsageError("doesnt_match needs at least 2 words.")
        units = np.stack([self.unit(word) for word in words])
        return words[int(np.argmin(units @ units.mean(0)))]

    def unit(self, asked: Asked) -> np.ndarray:
        """A word's vector, or a vector, at length 1."""
        vector = (self.vector(asked) if isinstance(asked, str) else np.asarray(asked)).astype(np.float32)
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def _searched(self, limit: int | None) -> np.ndarray:
        if limit is not None and limit < 1:
            raise UsageError(f"restrict_vocab = {limit}, expected at least 1.")
        return self.table[:limit]

    def _among(self, index: Index, aim: np.ndarray, asked: Sequence[Asked], topn: int) -> list[tuple[str, float]]:
        """The best of the rows that an index names, by their exact cosines."""
        rows = np.sort(index.nearest(self.unit(aim), topn + len(asked)))
        scores = search.cosines(np.asarray(self.table[rows]), self.norms[rows], aim)
        own = {self.rows.get(each) for each in asked if isinstance(each, str)}
        left_out = [place for place, row in enumerate(rows.tolist()) if row in own]
        return [(self.words[rows[place]], float(scores[place])) for place in search.largest(scores, topn, left_out)]

    def _best(self, scores: np.ndarray, asked: Sequence[Asked], topn: int) -> list[tuple[str, float]]:
        left_out = [self.rows[each] for each in asked if isinstance(each, str) and each in self.rows]
        return [(self.words[row], float(scores[row])) for row in search.largest(scores, topn, left_out)]


def several(asked: Asked | Iterable[Asked]) -> list[Asked]:
    """One word or vector, or several."""
    if isinstance(asked, str) or (isinstance(asked, np.ndarray) and asked.ndim == 1):
        return [asked]
    return list(asked)


def _near(word: str, words: Sequence[str]) -> str:
    """A suggestion from the more frequent words: difflib would take seconds for all."""
    hint = did_you_mean(word, words[:50_000])
    return hint if "Did you mean" in hint else ""
