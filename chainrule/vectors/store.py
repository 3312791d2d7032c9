"""The store of word vectors: look up, compare, search."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.vectors import search
from chainrule.vectors.queries import Asked, Index, Subwords, Weighted, other_spelling, pointing, several, unknown

log = logging.getLogger("chainrule")


class Vectors:
    """`vectors["king"]`; row r of `table` is the vector of `words[r]`, most frequent first.

    The table may be a memory map of any size: searches read it a block at a time. What gensim's KeyedVectors have is
    here by the same name.
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

    @property
    def index_to_key(self) -> Sequence[str]:
        """The words, as gensim calls them."""
        return self.words

    @property
    def key_to_index(self) -> dict[str, int]:
        """The row of each word, as gensim calls it."""
        return self.rows

    @property
    def vector_size(self) -> int:
        """The dimension, as gensim calls it."""
        return self.dimension

    def __repr__(self) -> str:
        return f"<Vectors of {len(self):,} words, {self.dimension} numbers each>"

    def _repr_html_(self) -> str:
        """For notebooks: some frequent words of content, and what is nearest to each."""
        from chainrule.figures.cards import card, table
        from chainrule.vectors.content import LOOKED_AT, examples, function_words

        skipped = function_words(self.counts, len(self))
        rows = [(self.words[row], ", ".join(f"{self.words[other]} {cosine:.2f}" for other, cosine in near))
                for row, near in examples(self.table, skipped, 8, 5)]
        head = ["word", f"nearest of the {min(len(self), LOOKED_AT):,} most frequent, by cosine"]
        return card(f"{len(self):,} words, {self.dimension} numbers each", table(head, rows))

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
        if not isinstance(word, Iterable):
            raise UsageError(f"vectors[{word!r}], expected a word: names of nodes are text too, vectors['{word}'], and "
                             f"rows are vectors.table[{word!r}].")
        return np.stack([self.vector(each) for each in word])

    def vector(self, word: str) -> np.ndarray:
        """(D,), composed of subwords where the word was never seen and the model has them."""
        found = self.find(word)
        if found is None:
            raise unknown(word, self.words, self.rows)
        return found

    def find(self, word: str) -> np.ndarray | None:
        """The same, and None for an unknown word."""
        row = self.rows.get(word)
        if row is not None:
            return np.asarray(self.table[row])
        return None if self.subwords is None else self.subwords.vector(word)

    def spelling(self, word: str) -> str:
        """The word, if it has a vector; otherwise another case or the phrase as one word, and a line says so."""
        if self.find(word) is not None:
            return word
        if (other := other_spelling(word, self.rows)) is None:
            raise unknown(word, self.words, self.rows)
        log.info(f"no {word!r}, taking {other!r}.")
        return other

    def _asked(self, asked: Any, weight: float = 1.0) -> list[tuple[Asked, float]]:
        """Words, in a spelling that has a vector, and vectors, each with its weight."""
        return [(self.spelling(each) if isinstance(each, str) else each, sign) for each, sign in several(asked, weight)]

    def get_vector(self, word: str, *, norm: bool = False) -> np.ndarray:
        """The vector of a word, with `norm` at length 1."""
        return self.unit(word) if norm else self.vector(word)

    def most_similar(self, positive: Weighted | Iterable[Weighted] = (), negative: Weighted | Iterable[Weighted] = (),
                     *, topn: int = 10, restrict_vocab: int | None = None, index: Index | None = None
                     ) -> list[tuple[str, float]]:
        """The words whose vectors have the largest cosine with Σ positive − Σ negative (each of length 1).

        The words asked for are not among them; for an unknown one, another `spelling` is taken. `("king", 0.5)` is a
        word with a weight. `restrict_vocab` searches only so many most frequent words. The search is exact without an
        `index`; with one (`vectors.approximate.NearIndex`) a neighbor may be missed.
        """
        signs = self._asked(positive) + self._asked(negative, -1.0)
        if not signs:
            raise UsageError("most_similar needs a word, for example: vectors.most_similar('king').")
        units = [sign * pointing(self.unit(each), [each]) for each, sign in signs]
        aim = pointing(np.sum(units, axis=0), [each for each, _ in signs])
        if index is not None:
            if restrict_vocab is not None:
                raise UsageError("most_similar has an index and restrict_vocab, expected one of them.")
            return self._among(index, aim, [each for each, _ in signs], topn)
        scores = search.cosines(self._searched(restrict_vocab), self.norms, aim)
        return self._best(scores, [each for each, _ in signs], topn)

    def analogy(self, a: str, b: str, c: str, *, topn: int = 10, restrict_vocab: int | None = None,
                method: str = "3CosAdd") -> list[tuple[str, float]]:
        """a is to b as c is to …: `analogy("man", "woman", "king")` looks for queen.

        3CosAdd: argmax cos(x, b − a + c), Mikolov et al. 2013. 3CosMul: argmax cos(x,b) cos(x,c) / (cos(x,a) + ε) with
        cosines taken to [0, 1], Levy & Goldberg 2014.
        """
        if method.lower() == "3cosadd":
            return self.most_similar([b, c], [a], topn=topn, restrict_vocab=restrict_vocab)
        if method.lower() != "3cosmul":
            raise UsageError(f"method = {method!r}, expected '3CosAdd' or '3CosMul'.")
        return self.most_similar_cosmul([b, c], [a], topn=topn, restrict_vocab=restrict_vocab)

    def most_similar_cosmul(self, positive: Asked | Iterable[Asked] = (), negative: Asked | Iterable[Asked] = (), *,
                            topn: int = 10, restrict_vocab: int | None = None) -> list[tuple[str, float]]:
        """The words with the largest Π_positive cos / (Π_negative cos + ε), cosines taken to [0, 1]: 3CosMul."""
        table = self._searched(restrict_vocab)
        asked = [[each for each, _ in self._asked(some)] for some in (positive, negative)]
        aims = [[pointing(self.unit(each), [each]) for each in some] for some in asked]
        above, below = (np.prod([(1 + search.cosines(table, self.norms, aim)) / 2 for aim in some] or
                                [np.ones(len(table), np.float32)], axis=0) for some in aims)
        return self._best(above / (below + np.float32(0.001)), asked[0] + asked[1], topn)

    def similarity(self, one: Asked, other: Asked) -> float:
        """The cosine of two words, or of vectors."""
        (first, _), (second, _) = self._asked([one, other])
        return float(self.unit(first) @ self.unit(second))

    def distance(self, one: Asked, other: Asked) -> float:
        """1 − the cosine."""
        return 1 - self.similarity(one, other)

    def n_similarity(self, some: Sequence[str], others: Sequence[str]) -> float:
        """The cosine of the means of two groups of words."""
        if not len(some) or not len(others):
            raise UsageError("n_similarity has a group without words, expected at least 1 in each.")
        return self.similarity(self[some].mean(0), self[others].mean(0))

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word that is farthest from the mean of all; words without a vector are left out, and named."""
        if isinstance(words, str):
            raise UsageError(f"doesnt_match({words[:20]!r}) is one text, expected a list of words: text.split().")
        missing = [word for word in words if self.find(word) is None]
        if missing:
            log.warning(f"doesnt_match leaves out words that have no vector: {', '.join(missing)}.")
        known = [word for word in words if word not in missing]
        if len(known) < 2:
            raise UsageError(f"doesnt_match has {len(known)} words with a vector, expected at least 2.")
        units = np.stack([self.unit(word) for word in known])
        return known[int(np.argmin(units @ units.mean(0)))]

    def unit(self, asked: Asked) -> np.ndarray:
        """A word's vector, or a vector, at length 1."""
        vector = (self.vector(asked) if isinstance(asked, str) else np.asarray(asked)).astype(np.float32)
        if vector.shape != (self.dimension,):
            raise UsageError(f"a vector of shape {vector.shape}, expected ({self.dimension},) as these vectors have.")
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
