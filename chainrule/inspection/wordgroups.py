"""Groups of words for the colors of a map: by k-means on the vectors, or by labels from a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.storage.files import opened

ROUNDS, TRIES = 50, 4  # of k-means at most, and beginnings of which the best is kept
COLORS = 8  # groups that a map has colors for
NAMED = 4  # words that name a cluster
OTHER = -1  # the group of words without a color


def clusters(unit: np.ndarray, words: Sequence[str], count: int, first: Sequence[int]) -> tuple[list[int], list[str]]:
    """The cluster of each word, and a name for each: those of its words that come first in `first`.

    Clusters are numbered by their size, the largest first.
    """
    group, _ = k_means(unit, min(count, len(unit)))
    order = [number for number, _ in Counter(group.tolist()).most_common()]
    place = {number: n for n, number in enumerate(order)}
    found = [place[number] for number in group.tolist()]
    members: list[list[str]] = [[] for _ in order]
    for n in first:
        if len(members[found[n]]) < NAMED:
            members[found[n]].append(words[n])
    return found, [", ".join(each) for each in members]


def k_means(points: np.ndarray, count: int, *, seed: int = 0) -> tuple[np.ndarray, float]:
    """(N,) the nearest of `count` centers for each point, and Σ ‖x − center‖²; the best of TRIES beginnings.

    Lloyd 1982, begun by k-means++ (Arthur & Vassilvitskii 2007). The same for the same seed.
    """
    x = points.astype(np.float64)
    rng = np.random.default_rng(seed)
    found = [_lloyd(x, _spread(x, count, rng)) for _ in range(TRIES)]
    return min(found, key=lambda each: each[1])


def _spread(x: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Centers far from each other: the next is drawn with a probability that grows with its squared distance."""
    centers = [x[rng.integers(len(x))]]
    gap = ((x - centers[0]) ** 2).sum(1)
    for _ in range(count - 1):
        total = gap.sum()
        centers.append(x[rng.choice(len(x), p=gap / total) if total > 0 else rng.integers(len(x))])
        gap = np.minimum(gap, ((x - centers[-1]) ** 2).sum(1))
    return np.stack(centers)


def _lloyd(x: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, float]:
    group = np.full(len(x), -1)
    for _ in range(ROUNDS):
        distance = (x**2).sum(1)[:, None] - 2 * x @ centers.T + (centers**2).sum(1)
        nearest = distance.argmin(1)
        if (nearest == group).all():
            break
        group = nearest
        for c in range(len(centers)):
            if (group == c).any():  # a center that has lost all its points stays where it is
                centers[c] = x[group == c].mean(0)
    return group, float(((x - centers[group]) ** 2).sum())


def labeled(path: str | Path, words: Sequence[str]) -> tuple[list[int], list[str], str]:
    """The group of each word by a file of word<TAB>label, the labels by how many words of the map they have.

    Then a sentence about words without a label, and labels without a color.
    """
    labels = _read(Path(path))
    mine = [labels.get(word) for word in words]
    counts = Counter(label for label in mine if label is not None)
    if not counts:
        raise UsageError(f"--labels {path}: none of its {len(labels):,} words is on the map, expected words as the run "
                         f"spells them, such as {words[0]!r}.")
    shown = [label for label, _ in counts.most_common(COLORS)]
    place = {label: n for n, label in enumerate(shown)}
    said = [f"{len(mine) - sum(counts.values()):,} words have no label" if None in mine else "",
            f"{len(counts) - len(shown):,} labels with the fewest words have no color" if len(counts) > COLORS else ""]
    return ([place.get(label, OTHER) if label is not None else OTHER for label in mine],
            [f"{label} ({counts[label]:,})" for label in shown],
            "; ".join(filter(None, said)))


def _read(path: Path) -> dict[str, str]:
    found = {}
    with opened(path) as file:
        for number, line in enumerate(file.read().decode("utf-8", "replace").splitlines(), 1):
            word, tab, label = line.partition("\t")
            if not line.strip():
                continue
            if not tab or not word or not label.strip():
                raise DataError(f"{path}, line {number}: {line[:40]!r}, expected a word, a tab and its label.")
            found[word] = label.strip()
    return found
