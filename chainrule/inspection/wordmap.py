"""A map of word vectors: two coordinates for each word, so that near words lie near each other."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inspection.neighbors import neighbors
from chainrule.protocols import WordVectors
from chainrule.runs import LoadedRun, opened

METHODS = ("pca", "tsne")
NAMES = {"pca": "PCA", "tsne": "t-SNE"}
PERPLEXITY, WIDTH = 30, 50  # t-SNE's usual ones: neighbors that count, and dimensions that it is given
ONE_THREAD = 1000  # points: with fewer, threads mostly wait for each other
steps = logging.getLogger("chainrule.steps")
INSTALL = "t-SNE comes from scikit-learn. Install it with: pip install 'chainrule[maps]'"


def word_map(run: str | Path | LoadedRun, *, words: int = 2000, method: str | None = None, near: int = 10
             ) -> dict[str, Any]:
    """Places for the `words` most frequent words by PCA, and by t-SNE where that is asked for or installed.

    `near` neighbors of each are by the cosine of the whole vectors, among the words of the map.
    """
    loaded = opened(run)
    vectors: Any = loaded.offering(WordVectors, "inspect --map")
    asked, method = method, _chosen(method)
    table = np.asarray(vectors.table[:words], np.float32)
    if len(table) < 3:
        raise DataError(f"{loaded.path}: {len(table)} words, expected at least 3 for a map.")
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-30)
    flat, share = pca(unit, 2)
    maps = [{"name": NAMES["pca"], "places": flat.tolist(), "said": f"PCA: the two directions in which the vectors "
             f"differ most; they hold {share:.1%} of the variance."
             + (f" {INSTALL}." if asked is None and method == "pca" else "")}]
    if method == "tsne":
        steps.debug(f"placing {len(unit):,} words by t-SNE")
        said = ("t-SNE: near words lie near each other; distances between groups, and their sizes, mean little "
                "(van der Maaten & Hinton 2008).")
        maps.insert(0, {"name": NAMES["tsne"], "places": tsne(unit, flat).tolist(), "said": said})
    found = neighbors(unit, range(len(unit)), count=near)
    counts = None if vectors.counts is None else np.asarray(vectors.counts[:words]).tolist()
    return {"run": str(loaded.path), "method": method, "words": list(vectors.words[:words]), "of": len(vectors.words),
            "dimension": int(table.shape[1]), "counts": counts, "maps": maps,
            "near": [[id for id, _ in row] for row in found],
            "cosines": [[round(cosine, 4) for _, cosine in row] for row in found]}


def pca(points: np.ndarray, width: int) -> tuple[np.ndarray, float]:
    """(N, width): y = (x − x̄) U, U the eigenvectors of the covariance with the largest eigenvalues; and their share.

    Pearson 1901. An eigenvector's sign is chosen so that its largest entry is positive: the same map each time.
    """
    centered = points.astype(np.float64) - points.mean(0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    top = vectors[:, ::-1][:, :width]
    top = top * np.sign(top[np.abs(top).argmax(0), np.arange(top.shape[1])])
    found = np.zeros((len(points), width))
    found[:, : top.shape[1]] = centered @ top
    total = float(values.sum())
    return found, float(values[::-1][:width].sum()) / total if total > 0 else 1.0


def tsne(points: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """(N, 2) by Barnes–Hut t-SNE, which begins at the map of PCA, so that its large shape is kept."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    reduced = pca(points, WIDTH)[0] if points.shape[1] > WIDTH else points.astype(np.float64)
    first = begin / max(float(begin[:, 0].std()), 1e-12) * 1e-4
    perplexity = min(PERPLEXITY, max(1.0, (len(points) - 1) / 3))
    model = TSNE(n_components=2, perplexity=perplexity, init=first, random_state=0, learning_rate="auto")
    with threadpool_limits(1 if len(points) < ONE_THREAD else None):
        return np.asarray(model.fit_transform(reduced), np.float64)


def _chosen(method: str | None) -> str:
    there = importlib.util.find_spec("sklearn") is not None
    if method is None:
        return "tsne" if there else "pca"
    if method not in METHODS:
        raise OptionError("--method", method, " or ".join(METHODS))
    if method == "tsne" and not there:
        raise OptionError("--method", method, "pca", INSTALL)
    return method
