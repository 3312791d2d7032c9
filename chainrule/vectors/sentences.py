"""Vectors of sentences: the mean of their words', plainly or with rare words weighing more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chainrule.errors import UsageError
from chainrule.vectors.store import Vectors


def mean(vectors: Vectors, sentences: Sequence[Sequence[str]]) -> np.ndarray:
    """(sentences, D): the mean over the words that have a vector; zeros where none has."""
    return _weighted(vectors, sentences, lambda word: 1.0)


def smooth_inverse_frequency(vectors: Vectors, sentences: Sequence[Sequence[str]], *, a: float = 1e-3,
                             remove: int = 1) -> np.ndarray:
    """SIF: v_s = mean of a / (a + p(w)) · v(w), less its part along the `remove` largest directions of all sentences.

    Arora, Liang & Ma 2017, "A simple but tough-to-beat baseline for sentence embeddings", algorithm 1.
    """
    if vectors.counts is None:
        raise UsageError("these vectors come without counts, which SIF weighs words by. Take the plain mean.")
    chances = vectors.counts / vectors.counts.sum()
    found = _weighted(vectors, sentences, lambda word: a / (a + (chances[vectors.rows[word]]
                                                                  if word in vectors.rows else 0.0)))
    if remove and len(found):
        directions = np.linalg.svd(found, full_matrices=False)[2][:remove]
        found = found - (found @ directions.T) @ directions
    return found


def _weighted(vectors: Vectors, sentences: Sequence[Sequence[str]],
              weight: Callable[[str], float]) -> np.ndarray:
    """Each different word is looked up once: subwords are hashed in Python."""
    found = np.zeros((len(sentences), vectors.dimension), np.float32)
    known: dict[str, np.ndarray | None] = {}
    for s, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise UsageError(f"sentence {sentence[:20]!r} is one text, expected a list of words: text.split().")
        for word in sentence:
            if word not in known:
                vector = vectors.find(word)
                known[word] = None if vector is None else np.float32(weight(word)) * vector
        rows = [row for row in map(known.__getitem__, sentence) if row is not None]
        if rows:
            found[s] = np.sum(rows, axis=0) / len(rows)
    return found
