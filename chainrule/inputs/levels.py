"""Pixels as tokens: each is the nearest of a few gray levels, or of the colors of a palette."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.inputs.images import check_pillow

SAMPLE = 1 << 20  # pixels that a palette is learned from
AT_ONCE = 1 << 22  # distances in memory at a time


def gray_levels(count: int) -> np.ndarray:
    """(L, 1): evenly spread from black to white."""
    return np.round(np.linspace(0, 255, count)).astype(np.uint8)[:, None]


def palette_of(images: Sequence[np.ndarray], count: int) -> np.ndarray:
    """(L, C): gray levels for gray images; for others colors of their own, as iGPT has them.

    Colors are found by median cut, then k-means (Chen et al. 2020, "Generative pretraining from pixels", §2.1, by
    k-means alone), on pixels taken evenly from all images.
    """
    if images[0].shape[2] == 1:
        return gray_levels(count)
    check_pillow()
    from PIL import Image

    some = images[::-(-len(images) * images[0][..., 0].size // SAMPLE)]
    pixels = np.concatenate([each.reshape(-1, 3) for each in some])
    quantized = Image.fromarray(pixels[None]).quantize(count, Image.Quantize.MEDIANCUT, kmeans=8)
    found = np.array(quantized.getpalette(), np.uint8).reshape(-1, 3)
    return np.unique(found[:count], axis=0)


def tokens_of(images: Sequence[np.ndarray], palette_LC: np.ndarray) -> np.ndarray:
    """(N, H·W) bytes: the number of the nearest color of each pixel, row by row; of equally near ones the first."""
    if palette_LC.shape[1] == 1:
        nearest = np.abs(np.arange(256)[:, None] - palette_LC[:, 0].astype(int)).argmin(1).astype(np.uint8)
        return np.stack([nearest[each[..., 0]].reshape(-1) for each in images])
    colors = palette_LC.astype(np.float32)
    return np.stack([_nearest(each.reshape(-1, 3).astype(np.float32), colors) for each in images])


def _nearest(pixels_PC: np.ndarray, colors_LC: np.ndarray) -> np.ndarray:
    step = max(1, AT_ONCE // len(colors_LC))
    squares_L = (colors_LC**2).sum(1)
    return np.concatenate([(squares_L - 2 * pixels_PC[first:first + step] @ colors_LC.T).argmin(1)
                           for first in range(0, len(pixels_PC), step)]).astype(np.uint8)


def pictures_of(tokens_NT: np.ndarray, palette_LC: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(N, H, W, C): the reverse, up to rounding to the palette."""
    return palette_LC[tokens_NT].reshape(len(tokens_NT), *size, palette_LC.shape[1])
