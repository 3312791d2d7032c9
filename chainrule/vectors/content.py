"""Words of content before words that go with everything, found from the vectors alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FEW = 0.25  # of the words: the most distinct, from which examples are taken
LOOKED_AT = 1000  # most frequent words among which examples are looked for


def content_first(unit: np.ndarray, nearest: Sequence[Sequence[float]], *, share: float = 0.5) -> list[int]:
    """The order in which words are named; `nearest` are the cosines of each word's nearest neighbors.

    A word's distinctness is the mean cosine of its nearest neighbors minus its mean cosine with all words. `of` and
    `the` are about as near to all words; `september` has words of its own. The `share` of the words that is most
    distinct comes first, then the rest, both in their order, which is by frequency. No list of words is needed, so that it works
    for any language; it separates best in vectors of skip-gram and CBOW, less in those of GloVe.
    """
    near = np.array([np.mean(row) if len(row) else 0.0 for row in nearest])
    distinct = near - unit @ unit.mean(0)
    usual = np.quantile(distinct, 1 - share)
    return sorted(range(len(unit)), key=lambda n: (distinct[n] < usual, n))


def examples(table: np.ndarray, count: int, near: int) -> list[tuple[int, list[tuple[int, float]]]]:
    """Frequent words of content as rows, each with its nearest among the most frequent and their cosines."""
    some = np.asarray(table[:LOOKED_AT], np.float32)
    unit = some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-30)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :min(max(near, 10), len(some) - 1)]
    first = content_first(unit, np.take_along_axis(cosine, order, 1).tolist(), share=FEW)
    return [(row, [(int(other), float(cosine[row, other])) for other in order[row, :near]]) for row in first[:count]]
