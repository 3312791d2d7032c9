"""From a run's tensors to the store, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.storage.index_arrays import Arrays
from chainrule.vectors.store import Vectors
from chainrule.vectors.subwords import BagOfGrams
from chainrule.vectors.text import spellings


def vectors_of(tensors: Mapping[str, np.ndarray], tokenizer: Any, path: Path = Path("model")) -> Vectors:
    """`vectors` (V, D) and `counts` (V,); with `grams` (G, D), `buckets` (G,) and `shape`, unseen words have parts."""
    _check(Arrays(path, tensors), len(words := spellings(tokenizer)))
    subwords = BagOfGrams.from_tensors(tensors) if "grams" in tensors else None
    return Vectors(words, tensors["vectors"], counts=tensors.get("counts"), subwords=subwords)


def tensors_of(vectors: Vectors) -> dict[str, np.ndarray]:
    """The reverse: what the store itself has, without what only training needs."""
    found = {"vectors": np.asarray(vectors.table)}
    if vectors.counts is not None:
        found["counts"] = np.asarray(vectors.counts)
    if isinstance(grams := vectors.subwords, BagOfGrams):
        shape = np.array([grams.shortest, grams.longest, grams.bucket], np.int64)
        found |= {"grams": np.asarray(grams.table), "buckets": np.asarray(grams.used), "shape": shape}
    return found


def _check(arrays: Arrays, words: int) -> None:
    """Refuses arrays of a file that do not fit together, before anything follows their indices."""
    dimension = arrays.get("vectors", np.floating, words, None).shape[1]
    for name in {"words", "counts"} & arrays.named.keys():
        arrays.get(name, np.number, *((words, dimension) if name == "words" else (words,)))
    if "grams" in arrays.named:
        rows = len(arrays.get("grams", np.floating, None, dimension))
        shortest, longest, bucket = arrays.get("shape", np.integer, 3).tolist()
        if not (0 <= shortest <= longest and 0 < bucket < 1 << 31):
            raise arrays.broken("shape", f"is {shortest}, {longest}, {bucket}, expected lengths and buckets of n-grams")
        arrays.get("buckets", np.integer, rows)
        arrays.below("buckets", bucket)
        arrays.rising("buckets", np.zeros(1, np.int64))
    if "tree" in arrays.named:
        parent = arrays.get("tree", np.integer, 2 * words - 2) >> 1
        if not ((np.maximum(np.arange(len(parent)), words - 1) < parent) & (parent <= 2 * words - 2)).all():
            raise arrays.broken("tree", "has a branch that does not lead to the root")
