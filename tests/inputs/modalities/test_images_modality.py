"""Images as a modality: one size, channels as the training images have them, mean 0 and deviation 1."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from chainrule.errors import DataError, OptionError
from chainrule.inputs import pixels
from chainrule.inputs.modalities.images import Images
from chainrule.inputs.pixels import moments

DRAW = np.random.default_rng(0)
JOB = SimpleNamespace(start=None)


def written(folder, name, array):
    Image.fromarray(array).save(folder / name)
    return str(folder / name).encode()


@pytest.fixture
def values(tmp_path):
    return [written(tmp_path, f"{n}.png", DRAW.integers(0, 200, (6, 4), np.uint8)) for n in range(5)]


def test_batches_of_training_images_have_mean_0_and_deviation_1(values):
    images = Images()
    _, facts = images.learn(values, JOB)
    arrays = images.encode(values, None, facts, 99)
    inputs, lengths = images.batch(arrays, facts, None)
    assert inputs.shape == (5, 6, 4, 1) and inputs.dtype == np.float32 and lengths is None
    assert abs(inputs.mean()) < 1e-5 and abs(inputs.std() - 1) < 1e-5
    assert facts["size"] == [6, 4] and facts["channels"] == 1 and images.sizes(0, facts) == (0, (6, 4, 1))


def test_what_was_read_to_learn_is_not_read_again(values, tmp_path):
    images = Images()
    _, facts = images.learn(values, JOB)
    (tmp_path / "0.png").unlink()
    assert len(images.encode(list(values), None, facts, 99)) == 5  # the same values, in another list
    with pytest.raises(DataError, match=r"0.png: cannot be read"):
        images.encode(values, None, facts, 99)


def test_a_color_image_among_gray_ones_makes_all_of_them_color(values, tmp_path):
    color = written(tmp_path, "c.png", DRAW.integers(0, 256, (6, 4, 3), np.uint8))
    _, facts = Images().learn([*values, color], JOB)
    assert facts["channels"] == 3 and len(facts["mean"]) == 3
    arrays = Images().encode(values, None, facts, 99)
    assert arrays[0].shape == (6, 4, 3) and np.array_equal(arrays[0][..., 0], arrays[0][..., 2])


def test_images_of_two_sizes_need_one(values, tmp_path):
    other = written(tmp_path, "o.png", np.zeros((9, 3), np.uint8))
    with pytest.raises(DataError, match=r"o.png: 9 × 3 pixels, and .*0.png has 6 × 4: expected one size. Set it: "
                                        r"task.inputs.size=\[6,3\]"):
        Images().learn([*values, other], JOB)
    _, facts = Images(size=(8, 8)).learn([*values, other], JOB)
    assert facts["size"] == [8, 8]


def test_new_images_take_the_size_of_the_training_images(values, tmp_path):
    _, facts = Images().learn(values, JOB)
    large = written(tmp_path, "l.png", DRAW.integers(0, 256, (60, 90, 3), np.uint8))
    assert Images().encode([large], None, facts, 99)[0].shape == (6, 4, 1)


def test_images_are_changed_in_training_only(values):
    images = Images(shift=2, flip=True)
    _, facts = images.learn(values, JOB)
    arrays = images.encode(values, None, facts, 99)
    plain, trained = (images.batch(arrays, facts, draw)[0] for draw in (None, np.random.default_rng(1)))
    assert np.array_equal(plain, images.batch(arrays, facts, None)[0]) and not np.array_equal(plain, trained)


def test_images_of_one_color_have_a_deviation():
    mean, deviation = moments([np.full((3, 4, 1), 51, np.uint8)] * 2)
    assert mean == pytest.approx([0.2]) and deviation == pytest.approx([1 / 255])


def test_images_that_do_not_fit_in_memory_are_refused(values, monkeypatch):
    monkeypatch.setattr(pixels, "memory", lambda: 100)
    with pytest.raises(DataError, match=r"5 images of 6 × 4 × 1 bytes take 0.0 GB, more than half of this machine's"):
        Images().learn(values, JOB)


@pytest.mark.parametrize(("option", "message"), [
    ({"size": (0, 5)}, r"task.inputs.size = \[0, 5\], expected two numbers from 1 to 4,096"),
    ({"shift": -1}, r"task.inputs.shift = -1, expected at least 0 pixels"),
    ({"rotate": 200.0}, r"task.inputs.rotate = 200.0, expected 0 to 180 degrees"),
    ({"zoom": 1.0}, r"task.inputs.zoom = 1.0, expected at least 0 and less than 1"),
])
def test_a_wrong_option_is_refused(option, message):
    with pytest.raises(OptionError, match=message):
        Images(**option)


def test_a_run_that_training_starts_from_says_how_images_are_read(values):
    earlier = {"size": [3, 2], "channels": 3, "mean": [0.1] * 3, "deviation": [0.2] * 3}
    images = Images()
    _, facts = images.learn(values, SimpleNamespace(start=SimpleNamespace(facts={"inputs": earlier})))
    assert facts == earlier and images.encode(values, None, facts, 99)[0].shape == (3, 2, 3)
