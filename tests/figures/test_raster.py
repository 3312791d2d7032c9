"""Pixels as PNG, checked by Pillow; heat maps, and grids of pictures."""

import io

import numpy as np
import pytest
from PIL import Image

from chainrule.figures.raster import drawn, heat, mosaic, png_bytes


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_png_is_read_as_it_was_written(channels):
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels), np.uint8)
    found = np.asarray(Image.open(io.BytesIO(png_bytes(image))))
    assert np.array_equal(found.reshape(image.shape), image)


def test_heat_shows_sign_and_size():
    found = heat(np.array([[2.0, -1.0, 0.0]]))
    assert found.shape == (1, 3, 4) and found[0, :, 3].tolist() == [255, 128, 0]
    assert found[0, 0, :3].tolist() != found[0, 1, :3].tolist()
    assert heat(np.zeros((2, 2)))[..., 3].max() == 0


def test_pictures_stand_in_rows():
    images = [np.full((2, 3, 1), value, np.uint8) for value in (10, 20, 30, 40, 50)]
    found = mosaic(images, scale=2, gap=1)
    assert found.shape == (2 * 5 - 1, 3 * 7 - 1, 1)
    assert found[0, 0] == 10 and found[0, 14] == 30 and found[5, 7] == 50 and found[5, 14] == 255
    assert np.array_equal(mosaic(images[:1]), images[0])


def test_a_picture_in_a_figure_brings_its_data():
    assert 'href="data:image/png;base64,iVBOR' in drawn(np.zeros((2, 2, 1), np.uint8), 0, 0, 20, 20)
