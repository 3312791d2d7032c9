"""Images changed at random: what a change does, by a slow loop and by changes that NumPy can do exactly."""

import math

import numpy as np
import pytest

from chainrule.inputs import augmentation
from chainrule.inputs.augmentation import Changes, changed, sampled

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 5, 7, 2), np.uint8)  # B=3 H=5 W=7 C=2: no two sizes alike


def places(dy=0.0, dx=0.0):
    y, x = np.mgrid[0:5, 0:7].astype(np.float32)
    return np.broadcast_to(y + dy, (3, 5, 7)), np.broadcast_to(x + dx, (3, 5, 7))


def one_pixel(image, y, x):
    """Straight from the equation; beyond an edge, the edge goes on."""
    y, x = min(max(y, 0), 4), min(max(x, 0), 6)
    total = 0.0
    for row in range(5):
        for column in range(7):
            total = total + max(0, 1 - abs(y - row)) * max(0, 1 - abs(x - column)) * image[row, column].astype(float)
    return total


def test_values_between_pixels_agree_with_the_definition():
    draw = np.random.default_rng(1)
    y, x = (draw.uniform(-2, 8, (3, 5, 7)).astype(np.float32) for _ in range(2))
    expected = [[[one_pixel(image, y[b, r, c], x[b, r, c]) for c in range(7)] for r in range(5)]
                for b, image in enumerate(IMAGES)]
    np.testing.assert_allclose(sampled(IMAGES, y, x), expected, atol=1e-3)
    np.testing.assert_allclose(sampled(IMAGES[..., :1], y, x), np.array(expected)[..., :1], atol=1e-3)


def test_whole_pixels_are_moved_as_they_are():
    assert np.array_equal(sampled(IMAGES, *places()), IMAGES)
    assert np.array_equal(sampled(IMAGES, *places(1, 2))[:, :-1, :-2], IMAGES[:, 1:, 2:])


def drawn_as(monkeypatch, angle=0.0, scale=1.0, down=0.0, right=0.0, mirrored=1.0):
    numbers = (angle, scale, down, right, mirrored)
    monkeypatch.setattr(augmentation, "_drawn", lambda rows, *_: tuple(np.full(rows, each, np.float32)
                                                                      for each in numbers))
    return changed(IMAGES, Changes(1), np.random.default_rng(0))


def test_a_quarter_turn_and_a_mirror_are_exact(monkeypatch):
    square = IMAGES[:, :, 1:6]
    monkeypatch.setattr(augmentation, "_drawn", lambda rows, *_: tuple(np.full(rows, each, np.float32) for each in (
        math.pi / 2, 1, 0, 0, 1)))
    turned = changed(square, Changes(1), np.random.default_rng(0))
    assert any(np.allclose(turned, np.rot90(square, k, axes=(1, 2)), atol=1e-3) for k in (1, 3))
    np.testing.assert_allclose(drawn_as(monkeypatch, mirrored=-1.0), IMAGES[:, :, ::-1], atol=1e-3)


def test_a_scale_of_two_shows_the_middle(monkeypatch):
    found = drawn_as(monkeypatch, scale=2.0)
    np.testing.assert_allclose(found[:, 2, 3], IMAGES[:, 2, 3], atol=1e-3)
    np.testing.assert_allclose(found[:, 4, 3], IMAGES[:, 3, 3], atol=1e-3)


@pytest.mark.parametrize("changes", [Changes(shift=2), Changes(rotate=30.0), Changes(zoom=0.3), Changes(flip=True)])
def test_a_change_depends_on_the_generator_alone(changes, monkeypatch):
    first, again, *others = (changed(IMAGES, changes, np.random.default_rng(seed)) for seed in (1, 1, 2, 3, 4))
    assert np.array_equal(first, again) and not all(np.array_equal(first, other) for other in others)
    monkeypatch.setattr(augmentation, "AT_ONCE", 35)  # an image at a time
    assert np.array_equal(changed(IMAGES, changes, np.random.default_rng(1)), first)
    assert changes.any and not Changes().any and first.dtype == np.float32


def test_shifts_stay_within_their_bounds():
    line = np.tile(np.arange(50, dtype=np.uint8)[None, None, :, None], (500, 3, 1, 1))
    moved = changed(line, Changes(shift=3), np.random.default_rng(0))[:, 1, 25, 0] - 25
    assert -3 <= moved.min() < -2.5 and 2.5 < moved.max() <= 3
