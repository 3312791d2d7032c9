"""A map of word vectors: two coordinates for each word, so that near words lie near each other."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.figures.drawing import Figure
from chainrule.figures.scatter import Points, scatter
from chainrule.inspection.neighbors import neighbors
from chainrule.inspection.wordgroups import COLORS, OTHER, clusters, labeled
from chainrule.protocols import WordVectors
from chainrule.runs import LoadedRun, opened
from chainrule.vectors.content import content_first, function_words
from chainrule.vectors.queries import unknown

METHODS = ("pca", "tsne")
NAMES = {"pca": "PCA", "tsne": "t-SNE"}
PERPLEXITY, WIDTH = 30, 50  # t-SNE's usual ones: neighbors that count, and dimensions that it is given
ONE_THREAD = 1000  # points: with fewer, threads mostly wait for each other
FEWEST = 10  # words of a cluster, on average: a map of few words has fewer colors
steps = logging.getLogger("chainrule.steps")
INSTALL = "t-SNE comes from scikit-learn. Install it with: pip install 'chainrule[maps]'"


@dataclass(frozen=True)
class Colors:
    """By what words are colored: a file of word<TAB>label, or so many clusters; 0 leaves them gray."""

    labels: str | Path | None = None
    clusters: int = COLORS

    def __post_init__(self) -> None:
        if not 0 <= self.clusters <= COLORS:
            raise OptionError("--clusters", self.clusters, f"0 to {COLORS}", "A map has no more colors.")


def word_map(run: str | Path | LoadedRun, *, words: int | Sequence[str] = 2000, method: str | None = None,
             near: int = 10, colors: Colors | None = None) -> dict[str, Any]:
    """Places for the `words` most frequent words by PCA, and by t-SNE where that is asked for or installed.

    Chosen words (`["king", "queen"]`) are mapped with the `near` words that are nearest to each. `near` neighbors of
    each word are by the cosine of the whole vectors, among the words of the map.
    """
    loaded = opened(run)
    vectors: Any = loaded.offering(WordVectors, "inspect --map")
    asked, method = method, _chosen(method)
    rows, strong = _rows(vectors, words, near)
    table = np.asarray(vectors.table[rows], np.float32)
    if len(table) < 3:
        raise DataError(f"{loaded.path}: {len(table)} words, expected at least 3 for a map.")
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-30)
    places = np.arange(len(vectors.words))[rows].tolist()
    names = [vectors.words[row] for row in places]
    found = neighbors(unit, range(len(unit)), count=near)
    first = content_first(places, function_words(vectors.counts, len(vectors.words)))
    return {"run": str(loaded.path), "method": method, "words": names, "of": len(vectors.words),
            "dimension": int(table.shape[1]), "counts": None if vectors.counts is None else
            np.asarray(vectors.counts)[rows].tolist(), "maps": _maps(unit, asked, method),
            "near": [[id for id, _ in row] for row in found],
            "cosines": [[round(cosine, 4) for _, cosine in row] for row in found],
            "strong": strong, **_colored(unit, names, first, colors or Colors())}


def _maps(unit: np.ndarray, asked: str | None, method: str) -> list[dict[str, Any]]:
    flat, share = pca(unit, 2)
    maps = [{"name": NAMES["pca"], "places": flat.tolist(), "said": f"PCA: the two directions in which the vectors "
             f"differ most; they hold {share:.1%} of the variance."
             + (f" {INSTALL}." if asked is None and method == "pca" else "")}]
    if method == "tsne":
        steps.debug(f"placing {len(unit):,} words by t-SNE")
        said = ("t-SNE: near words lie near each other; distances between groups, and their sizes, mean little "
                "(van der Maaten & Hinton 2008).")
        maps.insert(0, {"name": NAMES["tsne"], "places": tsne(unit, flat).tolist(), "said": said})
    return maps


def _rows(vectors: Any, words: int | Sequence[str], near: int) -> tuple[slice | list[int], list[int]]:
    """The rows of the table that are mapped, and the places among them of words that were chosen."""
    if isinstance(words, int):
        return slice(0, words), []
    chosen = list(dict.fromkeys(words))
    for word in chosen:
        if word not in vectors.rows:
            raise unknown(word, vectors.words, vectors.rows)
    beside = [other for word in chosen for other, _ in vectors.most_similar(word, topn=near)]
    return [vectors.rows[word] for word in dict.fromkeys([*chosen, *beside])], list(range(len(chosen)))


def _colored(unit: np.ndarray, words: Sequence[str], first: list[int], colors: Colors) -> dict[str, Any]:
    """`groups`: the color of each word, what the colors mean, and a sentence; `first`: which words are named first."""
    if colors.labels is not None:
        of, names, said = labeled(colors.labels, words)
        said = f"Colors: labels of {colors.labels}{f'; {said}' if said else ''}."
        first = sorted(first, key=lambda n: of[n] == OTHER)
        return {"first": first, "groups": {"of": of, "names": names, "said": said}}
    if not colors.clusters:
        return {"first": first, "groups": None}
    of, names = clusters(unit, words, min(colors.clusters, max(1, len(words) // FEWEST)), first)
    said = f"Colors: {len(names)} clusters of the vectors by k-means, each named by frequent words of content."
    return {"first": first, "groups": {"of": of, "names": names, "said": said}}


def picture(found: Mapping[str, Any], name: str) -> Figure:
    """The first map as a figure."""
    groups, best = found["groups"] or {"of": (), "names": ()}, found["maps"][0]
    points = Points(best["places"], found["words"], groups["of"], groups["names"], found["first"], found["strong"])
    caption = f"{len(found['words']):,} of {found['of']:,} words, {found['dimension']} numbers each, by {best['name']}."
    return scatter(f"The words of {name}", caption, points)


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
