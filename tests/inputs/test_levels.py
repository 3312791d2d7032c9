"""Pixels as tokens: the nearest level or color, and back."""

import numpy as np
import pytest

from chainrule.inputs.levels import gray_levels, palette_of, pictures_of, tokens_of

DRAW = np.random.default_rng(0)
GRAY = list(DRAW.integers(0, 256, (4, 3, 5, 1), np.uint8))
COLOR = list(DRAW.integers(0, 256, (4, 3, 5, 3), np.uint8))


@pytest.mark.parametrize("count", [2, 16, 256])
def test_a_gray_pixel_is_its_nearest_level(count):
    palette = palette_of(GRAY, count)
    assert palette.shape == (count, 1) and palette[0] == 0 and palette[-1] == 255
    back = pictures_of(tokens_of(GRAY, palette), palette, (3, 5))
    assert back.shape == (4, 3, 5, 1)
    widest = np.diff(gray_levels(count)[:, 0].astype(int)).max()
    assert np.abs(back.astype(int) - np.stack(GRAY)).max() <= widest / 2 + 1
    assert count < 256 or np.array_equal(back, np.stack(GRAY))


def test_a_color_is_the_nearest_of_the_palette():
    palette = palette_of(COLOR, 8)
    tokens = tokens_of(COLOR, palette)
    distance = ((np.stack(COLOR).reshape(4, 15, 1, 3).astype(float) - palette) ** 2).sum(-1)
    assert palette.shape == (8, 3) and tokens.shape == (4, 15) and np.array_equal(tokens, distance.argmin(-1))


def test_images_of_few_colors_keep_them():
    colors = np.array([[255, 0, 0], [0, 255, 0], [10, 20, 30]], np.uint8)
    images = list(colors[DRAW.integers(0, 3, (6, 4, 4))])
    palette = palette_of(images, 16)
    assert np.array_equal(pictures_of(tokens_of(images, palette), palette, (4, 4)), np.stack(images))
