"""Files that hold many images: MNIST's IDX and NumPy's, with the labels beside them."""

import gzip

import numpy as np
import pytest

from chainrule.errors import DataError
from chainrule.inputs.image_arrays import image_archive, image_at, images_of, is_array, write_idx

PIXELS = np.arange(4 * 3 * 5, dtype=np.uint8).reshape(4, 3, 5)


@pytest.fixture
def digits(tmp_path):
    write_idx(tmp_path / "train-images-idx3-ubyte", PIXELS)
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.array([7, 2, 1, 7]))
    return tmp_path / "train-images-idx3-ubyte"


def packed(path):
    other = path.with_name(f"{path.name}.gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return other


def test_images_and_labels_of_idx_files_belong_together(digits):
    archive = image_archive(digits, True)
    assert [each.labels for each in archive.rows] == [("7",), ("2",), ("1",), ("7",)]
    assert archive.sources == (digits, digits.with_name("train-labels-idx1-ubyte"))
    assert np.array_equal(image_at(archive.rows[2].text.decode()), PIXELS[2][:, :, None])


def test_either_file_may_be_packed(digits):
    labels = packed(digits.with_name("train-labels-idx1-ubyte"))
    assert image_archive(digits, True).sources == (digits, labels)
    archive = image_archive(packed(digits), True)
    assert archive.rows[1].labels == ("2",) and np.array_equal(images_of(archive.sources[0])[..., 0], PIXELS)


def test_arrays_of_numpy_are_read_too(tmp_path):
    np.save(tmp_path / "pets.npy", np.zeros((3, 4, 6, 3), np.uint8))
    np.save(tmp_path / "pets-labels.npy", np.array(["cat", "dog", "cat"]))
    assert [each.labels[0] for each in image_archive(tmp_path / "pets.npy", True).rows] == ["cat", "dog", "cat"]
    assert image_at(f"{tmp_path / 'pets.npy'}#1").shape == (4, 6, 3)
    np.save(tmp_path / "test-images.npy", np.zeros((1, 4, 6), np.uint8))
    np.save(tmp_path / "test-labels.npy", np.array([3]))
    assert image_archive(tmp_path / "test-images.npy", True).rows[0].labels == ("3",)


def test_only_names_of_arrays_are_looked_at(tmp_path):
    assert image_archive(tmp_path / "table.csv", True) is None and image_at("a.png#3") is None
    assert all(is_array(tmp_path / name) for name in ("x-idx3-ubyte.gz", "x.idx3-ubyte", "a.npy", "a.npy.gz", "a.idx"))


def test_without_labels_images_can_still_be_read(digits):
    digits.with_name("train-labels-idx1-ubyte").unlink()
    assert [each.labels for each in image_archive(digits, False).rows] == [()] * 4
    with pytest.raises(DataError, match=r"ubyte: no labels, expected a file train-labels-idx1-ubyte beside it\."):
        image_archive(digits, True)


@pytest.mark.parametrize(("name", "data", "message"), [
    ("images-idx3-ubyte", b"", "begins with nothing, expected 00 00 08 01"),
    ("images-idx3-ubyte", b"PNG\0 and more", "begins with 50 4e 47 00, expected"),
    ("images-idx3-ubyte", bytes([0, 0, 13, 3]) + bytes(12), "begins with 00 00 0d 03, expected"),
    ("images-idx3-ubyte", bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 3]) + bytes(17),
     "33 bytes, expected 34 for 2 × 3 × 3 gray images"),
    ("images-idx3-ubyte", bytes([0, 0, 8, 3] + [255] * 12), "16 bytes, expected 79,228,162,458,924,105,"),
    ("images-idx3-ubyte", bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 6]), r"an array of uint8 with the shape 2, expected bytes"),
    ("a.npy", b"nothing", r"a.npy: not an array of NumPy's"),
    ("a.npy", b"\x93NUMPY\x01\x00\x0e\x00{'descr': ('|u", r"a.npy: not an array of NumPy's"),
])
def test_a_wrong_file_is_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        image_archive(tmp_path / name, True)


def test_other_numbers_and_other_counts_are_refused(digits, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 3, 3), np.float32))
    with pytest.raises(DataError, match=r"a.npy: an array of float32 with the shape 2 × 3 × 3, expected bytes"):
        image_archive(tmp_path / "a.npy", False)
    write_idx(digits.with_name("train-labels-idx1-ubyte"), np.array([1, 2]))
    with pytest.raises(DataError, match=r"train-labels-idx1-ubyte: 2 labels, expected 4, one for each image of"):
        image_archive(digits, True)
    with pytest.raises(DataError, match=r"#4: .* has 4 images, the last is #3\."):
        image_at(f"{digits}#4")


def test_nothing_is_unpickled(tmp_path):
    with (tmp_path / "a.npy").open("wb") as stream:  # objects: what only a pickle holds
        np.lib.format.write_array_header_1_0(stream, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    with pytest.raises(DataError, match=r"a.npy: not an array of NumPy's \(Object arrays cannot be loaded"):
        image_archive(tmp_path / "a.npy", False)


def test_a_packed_file_that_was_cut_is_named(digits):
    gz = packed(digits)
    gz.write_bytes(gz.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"ubyte.gz: the .gz file was cut: it ends too early"):
        image_archive(gz, True)
