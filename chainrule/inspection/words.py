"""Some words of word vectors: what lies near each, how alike they are, and a small map of all of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.inspection.wordmap import pca
from chainrule.protocols import WordVectors
from chainrule.runs import LoadedRun, opened

DIGITS = 4


def look_at_words(run: str | Path | LoadedRun, words: Sequence[str], *, top: int = 10) -> dict[str, Any]:
    """What `chainrule inspect VECTORS WORD … --json` prints; a word without a vector is an error."""
    loaded = opened(run)
    vectors: Any = loaded.offering(WordVectors, "inspect")
    asked = list(dict.fromkeys(words))
    units = np.stack([_unit(vectors.vector(word)) for word in asked])
    near = [vectors.most_similar(word, topn=top) for word in asked]
    rows = [{"word": word, "rank": _rank(vectors, word), "count": _count(vectors, word), "near": [
        {"word": other, "cosine": round(float(cosine), DIGITS)} for other, cosine in own]}
        for word, own in zip(asked, near, strict=True)]
    return {"run": str(loaded.path), "dimension": int(vectors.dimension), "of": len(vectors.words), "words": rows,
            "similarity": np.round(units.astype(np.float64) @ units.astype(np.float64).T, DIGITS).tolist(),
            "map": _map(vectors, asked, near)}


def _map(vectors: Any, asked: Sequence[str], near: Sequence[Sequence[tuple[str, float]]]) -> dict[str, Any]:
    """The words and their neighbors in the two directions in which these differ most."""
    shown = list(dict.fromkeys([*asked, *(word for own in near for word, _ in own)]))
    units = np.stack([_unit(vectors.vector(word)) for word in shown])
    places, share = pca(units, 2)
    nearest = (units @ units[: len(asked)].T).argmax(axis=1).tolist()
    return {"words": shown, "places": np.round(places, DIGITS).tolist(), "share": share,
            "belongs": [n if n < len(asked) else nearest[n] for n in range(len(shown))]}


def _unit(vector: np.ndarray) -> np.ndarray:
    vector = np.asarray(vector, np.float32)
    return vector / max(float(np.linalg.norm(vector)), 1e-30)


def _rank(vectors: Any, word: str) -> int | None:
    """1 for the most frequent word; None for one whose vector is made of subwords."""
    row = vectors.rows.get(word)
    return None if row is None else row + 1


def _count(vectors: Any, word: str) -> int | None:
    row = vectors.rows.get(word)
    return None if row is None or vectors.counts is None else int(vectors.counts[row])
