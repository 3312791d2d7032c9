"""Captions without learning: those of the training images that look most alike, by their pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.inputs.captioned import Captioned
from chainrule.inputs.pixels import moments, read_pixels

SIDE = 16  # places along each side to which images are averaged before they are compared


def nearest_captions(train: Captioned, images: Sequence[bytes], modality: Any) -> list[str]:
    """For each image the first caption of the training image at the least distance, of averaged, normalized pixels."""
    captions: dict[bytes, str] = {}
    for each in train:
        captions.setdefault(each.source, each.target.decode(errors="replace"))
    known = list(captions)
    pixels = read_pixels([*known, *images], modality.size, modality.channels)
    mean, deviation = moments(pixels[:len(known)])
    small = np.stack([(averaged(each / 255) - mean) / deviation for each in pixels]).reshape(len(pixels), -1)
    ours, theirs = small[len(known):], small[:len(known)]
    distance = (ours**2).sum(1)[:, None] - 2 * ours @ theirs.T + (theirs**2).sum(1)
    return [captions[known[n]] for n in distance.argmin(axis=1)]


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

