"""Image files of every kind become the same arrays, and what is wrong with one is a line that names it."""

import importlib.util
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from chainrule.errors import DataError, UsageError
from chainrule.inputs import images
from chainrule.inputs.images import read_image

RAMP = np.arange(5 * 7, dtype=np.uint8).reshape(5, 7) * 7  # no two sizes alike, no two pixels


def saved(path, array, **how):
    Image.fromarray(array).save(path, **how)
    return path


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.gif", "a.webp"])
def test_gray_pixels_are_read_as_they_are(tmp_path, name):
    how = {"lossless": True} if name.endswith("webp") else {}
    found = read_image(saved(tmp_path / name, RAMP, **how), channels=1)
    assert found.shape == (5, 7, 1) and found.dtype == np.uint8 and np.array_equal(found[..., 0], RAMP)


def test_a_jpeg_is_read_nearly_as_it_is(tmp_path):
    flat = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    assert np.abs(read_image(saved(tmp_path / "a.jpg", flat, quality=95)).astype(int) - flat).max() < 5


def test_channels_are_the_files_own_unless_given(tmp_path):
    color = np.stack([RAMP, RAMP // 2, 255 - RAMP], axis=2)
    path = saved(tmp_path / "a.png", color)
    assert read_image(path).shape == (5, 7, 3) and read_image(path, channels=1).shape == (5, 7, 1)
    gray = read_image(saved(tmp_path / "g.png", RAMP), channels=3)
    assert gray.shape == (5, 7, 3) and np.array_equal(gray[..., 1], RAMP)


def test_sixteen_bits_keep_their_upper_half(tmp_path):
    deep = np.arange(35, dtype=np.uint16).reshape(5, 7) * 1800
    found = read_image(saved(tmp_path / "a.png", deep))
    assert found.shape == (5, 7, 1) and np.array_equal(found[..., 0], (deep >> 8).astype(np.uint8))


def test_one_bit_is_black_and_white(tmp_path):
    Image.fromarray(RAMP > 100).save(tmp_path / "a.png")
    assert set(np.unique(read_image(tmp_path / "a.png"))) == {0, 255}


def test_a_palette_is_color(tmp_path):
    color = np.zeros((4, 4, 3), np.uint8)
    color[:2], color[2:] = (255, 0, 0), (0, 0, 255)
    Image.fromarray(color).quantize(2).save(tmp_path / "a.png")
    assert np.array_equal(read_image(tmp_path / "a.png"), color)


def test_what_is_transparent_is_white(tmp_path):
    layered = np.zeros((2, 3, 4), np.uint8)
    layered[0, 0], layered[1, 2] = (10, 20, 30, 255), (0, 0, 0, 128)
    found = read_image(saved(tmp_path / "a.png", layered))
    assert found[0, 0].tolist() == [10, 20, 30] and found[0, 1].tolist() == [255] * 3
    assert found[1, 2].tolist() == [127] * 3


def test_of_an_animation_the_first_frame_is_read(tmp_path):
    frames = [Image.fromarray(np.full((3, 4), value, np.uint8)) for value in (50, 200)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert (read_image(tmp_path / "a.gif", channels=1) == 50).all()


def test_the_cameras_orientation_is_applied(tmp_path):
    picture, exif = Image.fromarray(np.repeat(np.repeat(RAMP, 8, 0), 8, 1)), Image.Exif()
    exif[0x0112] = 6  # to be turned to the right
    picture.save(tmp_path / "a.jpg", exif=exif, quality=100)
    found = read_image(tmp_path / "a.jpg")[..., 0].astype(int)
    assert found.shape == (56, 40) and np.abs(found - np.rot90(np.asarray(picture), -1).astype(int)).max() < 12


def test_the_middle_is_cut_out_in_the_proportions_of_the_size(tmp_path):
    wide = np.zeros((10, 30), np.uint8)
    wide[:, 9:21] = 255  # the middle square, and what is mixed in at its edges
    found = read_image(saved(tmp_path / "a.png", wide), size=(5, 5))
    assert found.shape == (5, 5, 1) and (found == 255).all()
    assert read_image(tmp_path / "a.png", size=(4, 9)).shape == (4, 9, 1)


def bomb(width, height):
    """A PNG that claims to have so many pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("name", "data", "message"), [
    ("a.png", b"", r"a.png: an empty file, expected an image\."),
    ("a.png", b"no image at all", r"a.png: not an image that can be read, expected PNG, JPEG, GIF, BMP, WEBP\."),
    ("a.png", bomb(9_000, 9_000), r"a.png: 9,000 × 9,000 pixels, expected at most 67,108,864 in all"),
    ("a.png", bomb(60_000, 60_000), r"a.png: .* pixels, expected at most 67,108,864 in all"),
    ("a.png", bomb(40, 40), r"a.png: the image is cut or damaged \(.*\)\. Copy or download it again\."),
])
def test_a_file_that_is_no_image_is_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message) as raised:
        read_image(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_an_image_that_was_cut_is_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)
    for name in ("a.png", "a.jpg", "a.gif", "a.bmp", "a.webp"):
        whole = saved(tmp_path / name, noise).read_bytes()
        (tmp_path / name).write_bytes(whole[:len(whole) // 2])
        with pytest.raises(DataError, match=f"{name}: (the image is cut or damaged|not an image)"):
            read_image(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none.png: cannot be read \(No such file or directory\)"):
        read_image(tmp_path / "none.png")


def test_without_pillow_a_line_says_what_to_install(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "PIL" else real(name))
    with pytest.raises(UsageError, match=r"images need pillow, which is not installed. Try: pip install "
                                         r"'chainrule\[images\]'"):
        images.read_image(tmp_path / "a.png")
