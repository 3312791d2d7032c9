"""Words of content before words that go with everything, by their frequency alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

LOOKED_AT = 2000  # most frequent words among which neighbors of examples are looked for


def function_words(counts: np.ndarray | None, size: int) -> int:
    """How many of the most frequent words make up half of the text: they are mostly the words of grammar.

    Luhn 1958, "The automatic creation of literature abstracts": words of content are those of middle frequency. No list
    of words is needed, so that it works for any language and any vectors. Without counts it is √size, which is what
    Zipf's law gives: Σ 1/r up to √size is half of the sum up to size.
    """
    if counts is None:
        return math.isqrt(size)
    below = np.cumsum(np.asarray(counts, np.float64))
    return int(np.searchsorted(below, below[-1] / 2)) if size else 0


def content_first(rows: Sequence[int], skipped: int) -> list[int]:
    """The order in which words are named: rows from `skipped` on, then the most frequent; both in their order."""
    return sorted(range(len(rows)), key=lambda n: (rows[n] < skipped, n))


def examples(table: np.ndarray, skipped: int, count: int, near: int) -> list[tuple[int, list[tuple[int, float]]]]:
    """The first words of content as rows, each with its nearest among the most frequent and their cosines."""
    some = np.asarray(table[:max(LOOKED_AT, skipped + count)], np.float32)
    unit = some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-30)
    found = []
    for row in content_first(range(len(some)), skipped)[:count]:
        cosine = unit @ unit[row]
        cosine[row] = -np.inf
        best = np.argsort(-cosine, kind="stable")[:min(near, len(some) - 1)]
        found.append((row, [(int(other), float(cosine[other])) for other in best]))
    return found
