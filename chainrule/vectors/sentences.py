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
    found = np.zeros((len(sentences), vectors.dimension), np.float32)
    for s, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise UsageError(f"sentence {sentence[:20]!r} is one text, expected a list of words: text.split().")
        known = [word for word in sentence if word in vectors or
                 (vectors.subwords is not None and vectors.subwords.vector(word) is not None)]
        if known:
            found[s] = sum(weight(word) * vectors[word] for word in known) / len(known)
    return found
