"""An approximate index: finds most of the nearest words without comparing every vector, for millions of words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, OptionError, StorageError, UsageError
from chainrule.storage.partial import partial_folder
from chainrule.storage.writing import sync
from chainrule.vectors.store import Vectors

BLOCK = 1 << 16  # rows that are added at a time


class NearIndex:
    """A graph of near words that a search walks along (HNSW), kept by faiss.

    Malkov & Yashunin 2018, arXiv:1603.09320. It may miss a neighbor, but cosines are exact: they are computed
    from the vectors. `recall` measures how many it finds. More `links` and `effort` find more, and take longer.
    """

    def __init__(self, vectors: Vectors, *, links: int = 32, effort: int = 128):
        for name, value in (("links", links), ("effort", effort)):
            if value < 2:
                raise OptionError(name, value, "at least 2")
        faiss = _faiss()
        self.graph: Any = faiss.IndexHNSWFlat(vectors.dimension, links, faiss.METRIC_INNER_PRODUCT)
        self.graph.hnsw.efConstruction = self.graph.hnsw.efSearch = effort
        for low in range(0, len(vectors), BLOCK):
            rows = np.asarray(vectors.table[low : low + BLOCK], np.float32)
            self.graph.add(np.ascontiguousarray(rows / vectors.norms[low : low + BLOCK, None]))

    def nearest(self, aim: np.ndarray, count: int) -> np.ndarray:
        """Rows of about the `count` vectors of largest cosine with the aim; fewer where the graph shows no more."""
        self.graph.hnsw.efSearch = max(self.graph.hnsw.efSearch, count)
        _, rows = self.graph.search(np.ascontiguousarray(aim[None], np.float32), min(count, self.graph.ntotal))
        return rows[0][rows[0] >= 0]

    def save(self, path: str | Path) -> None:
        """A file of faiss, written whole or not at all."""
        target = Path(os.path.realpath(path))
        try:
            with partial_folder(target) as folder:
                _faiss().write_index(self.graph, str(folder / target.name))
                sync(folder / target.name)
                os.replace(folder / target.name, target)
        except (OSError, RuntimeError) as error:
            raise StorageError(f"{path}: the index was not written: {_first_line(error)}") from error

    @classmethod
    def load(cls, path: str | Path, vectors: Vectors) -> NearIndex:
        """The index of these vectors; one of another number or width is refused."""
        found = cls.__new__(cls)
        try:
            found.graph = _faiss().read_index(str(path))
        except RuntimeError as error:
            raise DataError(f"{path}: not a readable index of faiss: {_first_line(error)}") from None
        if (found.graph.ntotal, found.graph.d) != (len(vectors), vectors.dimension):
            raise UsageError(f"{path}: of {found.graph.ntotal:,} vectors of {found.graph.d} numbers, expected "
                             f"{len(vectors):,} of {vectors.dimension}: an index belongs to its own vectors.")
        return found


def recall(vectors: Vectors, index: NearIndex, *, words: int = 200, topn: int = 10, seed: int = 0) -> float:
    """The share of the `topn` nearest of so many random words that the index finds; vectors of zeros have none."""
    some = [row for row in np.random.default_rng(seed).permutation(len(vectors))[:words].tolist()
            if np.any(vectors.table[row])]
    hits = wanted = 0
    for row in some:
        exact = {word for word, _ in vectors.most_similar(vectors.words[row], topn=topn)}
        near = {word for word, _ in vectors.most_similar(vectors.words[row], topn=topn, index=index)}
        hits, wanted = hits + len(exact & near), wanted + len(exact)
    return hits / max(wanted, 1)


def _first_line(error: Exception) -> str:
    """The message of an error of faiss, without the lines about its source code."""
    return str(error).strip().split("\n")[-1].rsplit(": Error: ", 1)[-1].rstrip(".") + "."


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise UsageError("an approximate index is kept by faiss. Install it with: pip install 'chainrule[index]'"
                         ) from None
    return faiss
