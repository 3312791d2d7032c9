"""Captions without learning: those of the training images that look most alike, by their pixels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.inputs.captioned import Captioned
from chainrule.inputs.pixels import moments, read_pixels

SIDE = 16  # places along each side to which images are averaged before they are compared
NEIGHBORS = 60  # images whose captions a consensus is made of
LONGEST = 4  # words of an n-gram


class Nearest:
    """The training images nearest to each of some others: by the distance of their averaged, normalized pixels."""

    def __init__(self, train: Captioned, images: Sequence[bytes], modality: Any):
        self.captions: dict[bytes, list[str]] = {}
        for each in train:
            self.captions.setdefault(each.source, []).append(each.target.decode(errors="replace"))
        known = list(self.captions)
        pixels = read_pixels([*known, *images], modality.size, modality.channels)
        mean, deviation = moments(pixels[:len(known)])
        small = np.stack([(averaged(each / 255) - mean) / deviation for each in pixels]).reshape(len(pixels), -1)
        ours, theirs = small[len(known):], small[:len(known)]
        distance = (ours**2).sum(1)[:, None] - 2 * ours @ theirs.T + (theirs**2).sum(1)
        self.order = [[known[n] for n in row] for row in np.argsort(distance, axis=1, kind="stable")]

    def first(self) -> list[str]:
        """The first caption of the nearest image."""
        return [self.captions[row[0]][0] for row in self.order]

    def consensus(self, neighbors: int = NEIGHBORS) -> list[str]:
        """Of the captions of the nearest images, the one that is most like all others of them.

        Devlin et al. 2015, arXiv:1505.04467, §3, with the mean cosine between counts of n-grams up to 4 words as what
        is alike.
        """
        counted = {text: _unit(text) for own in self.captions.values() for text in own}
        return [self._agreed([text for image in row[:neighbors] for text in self.captions[image]], counted)
                for row in self.order]

    @staticmethod
    def _agreed(texts: Sequence[str], counted: dict[str, dict[Any, float]]) -> str:
        total: Counter[Any] = Counter()
        for text in texts:
            for gram, share in counted[text].items():
                total[gram] += share  # type: ignore[assignment]
        return max(texts, key=lambda text: sum(share * total[gram] for gram, share in counted[text].items()))


def averaged(image: np.ndarray, side: int = SIDE) -> np.ndarray:
    """(h, w, C) means of rectangles of an image (H, W, C); no more than there are pixels."""
    for axis in (0, 1):
        length = image.shape[axis]
        edges = np.linspace(0, length, min(side, length) + 1).astype(int)
        sums = np.add.reduceat(image, edges[:-1], axis=axis)
        shape = [1, 1, 1]
        shape[axis] = -1
        image = sums / np.diff(edges).reshape(shape)
    return image


def _unit(text: str) -> dict[Any, float]:
    """Counts of the n-grams of a text, as a vector of length 1."""
    words = text.lower().split()
    counts = Counter(tuple(words[n:n + size]) for size in range(1, LONGEST + 1) for n in range(len(words) + 1 - size))
    norm = sum(count**2 for count in counts.values()) ** 0.5
    return {gram: count / norm for gram, count in counts.items()}
