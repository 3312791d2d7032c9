"""Many images in one file, with their labels in a file beside it: MNIST's IDX files and NumPy's .npy."""

from __future__ import annotations

import io
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from chainrule.errors import DataError
from chainrule.inputs.files import Archive, Listed
from chainrule.inputs.labeled import Example
from chainrule.storage.environment import memory
from chainrule.text.corpora.packing import open_stream, readable, unpacked_name

BYTES = 0x08  # the third byte of an IDX file, where its numbers are bytes
AT_ONCE = 1 << 24  # bytes read at a time
SHAPES = {1: "labels", 3: "gray images", 4: "images"}


def is_array(path: Path) -> bool:
    """By its name: `train-images-idx3-ubyte.gz`, `train-images.idx3-ubyte`, `images.npy`, packed or not."""
    name = unpacked_name(path).lower()
    return name.endswith((".npy", "ubyte", ".idx"))


def image_archive(path: Path, need_labels: bool) -> Archive | None:
    """An example for each image, whose value is `file#number`; None where the file's name says something else."""
    if not is_array(path):
        return None
    count, beside = len(images_of(path)), labels_beside(path)
    labels: list[tuple[str, ...]] = [()] * count
    if beside is not None:
        labels = [(str(each),) for each in labels_of(beside)]
        if len(labels) != count:
            raise DataError(f"{beside}: {len(labels):,} labels, expected {count:,}, one for each image of {path}.")
    elif need_labels:
        raise DataError(f"{path}: no labels, expected a file {_label_name(path)} beside it.")
    rows = [Example(Listed(os.fsencode(f"{path}#{n}")), own, str(path), n) for n, own in enumerate(labels)]
    return Archive(rows, (path,) if beside is None else (path, beside))


def labels_beside(path: Path) -> Path | None:
    """`train-labels-idx1-ubyte` for `train-images-idx3-ubyte`, packed or not; `x-labels.npy` for `x.npy`."""
    own = path.parent / _label_name(path)
    unpacked = own.with_name(unpacked_name(own))
    for found in (own, unpacked, *(unpacked.with_name(f"{unpacked.name}{packing}") for packing in (".gz", ".xz"))):
        if found.is_file() and found != path:
            return found
    return None


def image_at(value: str) -> np.ndarray | None:
    """(H, W, C): the image of a value `file#number`; None where it is another value."""
    name, _, number = value.rpartition("#")
    if not number.isdecimal() or not is_array(Path(name)):
        return None
    images = images_of(Path(name))
    if int(number) >= len(images):
        raise DataError(f"{value}: {name} has {len(images):,} images, the last is #{len(images) - 1}.")
    return images[int(number)]


def images_of(path: Path) -> np.ndarray:
    """(N, H, W, C) bytes; C is 1 or 3."""
    with readable(path):
        found = path.stat()
    return _images(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _images(path: Path, changed: int, size: int) -> np.ndarray:
    found = _array(path)
    good = found.ndim == 3 or (found.ndim == 4 and found.shape[3] in (1, 3))
    if not good or found.dtype != np.uint8 or not found.size:
        raise DataError(f"{path}: an array of {found.dtype} with the shape {_spelled(found.shape)}, expected bytes "
                        "(uint8): images × rows × columns, and 3 for color.")
    return found[:, :, :, None] if found.ndim == 3 else found


def labels_of(path: Path) -> list[int | str]:
    """Of each image; numbers or texts."""
    found = _array(path)
    if found.ndim != 1 or found.dtype.kind not in "iuUb":
        raise DataError(f"{path}: an array of {found.dtype} with the shape {_spelled(found.shape)}, expected one "
                        "label for each image.")
    return found.tolist()


def _array(path: Path) -> np.ndarray:
    data = _data(path)
    if not unpacked_name(path).lower().endswith(".npy"):
        return _idx(path, data)
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # of many kinds, for files that are cut, damaged or no arrays at all
        raise DataError(f"{path}: not an array of NumPy's ({' '.join(str(error).split())[:80]}), expected numbers or "
                        "texts in a .npy file.") from None


def _data(path: Path) -> bytes:
    """All of a file, a piece at a time, since it is not known how much a packed one holds."""
    pieces, size = [], 0
    with open_stream(path) as stream:
        while piece := stream.read(AT_ONCE):
            pieces.append(piece)
            size += len(piece)
            if size > memory() // 2:
                raise DataError(f"{path}: larger than half of this machine's memory ({memory() / 1e9:,.0f} GB), in "
                                "which images are held.")
    return b"".join(pieces)


def _idx(path: Path, data: bytes) -> np.ndarray:
    """Two zeros, the kind of number, how many axes; the length of each axis in four bytes, big-endian; the numbers.

    LeCun, Cortes & Burges, "The MNIST database of handwritten digits".
    """
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] != BYTES or data[3] not in SHAPES:
        raise DataError(f"{path}: begins with {data[:4].hex(' ') or 'nothing'}, expected 00 00 08 01 (labels) or "
                        "00 00 08 03 (images) of an IDX file of bytes.")
    head = 4 + 4 * data[3]
    shape = tuple(int.from_bytes(data[at:at + 4], "big") for at in range(4, head, 4))
    wanted = head + int(np.prod(shape, dtype=object))
    if len(data) != wanted:
        raise DataError(f"{path}: {len(data):,} bytes, expected {wanted:,} for {_spelled(shape)} {SHAPES[data[3]]}. "
                        "Copy or download it again.")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)


def _label_name(path: Path) -> str:
    if "images" in path.name:
        return path.name.replace("images", "labels").replace("idx3", "idx1")
    stem = unpacked_name(path)
    return path.name.replace(stem, f"{Path(stem).stem}-labels{Path(stem).suffix}")


def _spelled(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "one number"


def write_idx(path: Path, array: np.ndarray) -> None:
    """Bytes as an IDX file."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes())
