"""The pixels of many images in one shape, from files or from arrays that hold many; their mean and deviation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chainrule.errors import DataError
from chainrule.inputs.image_arrays import image_at
from chainrule.inputs.image_tars import member_at
from chainrule.inputs.images import Size, read_image, read_image_bytes, resized
from chainrule.storage.environment import memory

AT_ONCE = 1024  # images


def read_pixels(values: Sequence[bytes], size: Size | None, channels: int | None, option: str = "task.inputs.size"
                ) -> list[np.ndarray]:
    """(H, W, C) bytes of each value, all of one shape: that of the first where none is given.

    `option` is what messages call the size.
    """
    found: list[np.ndarray] = []
    for value in values:
        found.append(_read(value, size, channels))
        if found[-1].shape[:2] != found[0].shape[:2]:
            (a, b), (c, d) = found[0].shape[:2], found[-1].shape[:2]
            raise DataError(f"{os.fsdecode(value)}: {c} × {d} pixels, and {os.fsdecode(values[0])} has {a} × {b}: "
                            f"expected one size. Set it: {option}=[{min(a, c)},{min(b, d)}]")
        if len(found) == 1 and len(values) * found[0].size > memory() // 2:
            raise DataError(f"{len(values):,} images of {' × '.join(map(str, found[0].shape))} bytes take "
                            f"{len(values) * found[0].size / 1e9:,.1f} GB, more than half of this machine's memory "
                            f"({memory() / 1e9:,.0f} GB). Set a smaller {option}.")
    if channels is None and len({each.shape[2] for each in found}) > 1:  # some are gray
        found = [np.repeat(each, 3, axis=2) if each.shape[2] == 1 else each for each in found]
    return found


def _read(value: bytes, size: Size | None, channels: int | None) -> np.ndarray:
    """One image; a message says which row of a table names it."""
    name = os.fsdecode(value)
    try:
        if (inside := image_at(name)) is not None:
            return resized(inside, size, channels)
        if (packed := member_at(name)) is not None:
            return read_image_bytes(packed, name, size, channels)
        return read_image(Path(name), size, channels)
    except DataError as error:
        raise DataError(f"{getattr(value, 'where', '')}{error}") from None


def moments(pixels: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(C,) each: mean and standard deviation of the pixels, as shares of 255; a deviation of 0 counts as 1/255."""
    total, squares, count = 0.0, 0.0, 0
    for first in range(0, len(pixels), AT_ONCE):
        some = np.stack(pixels[first:first + AT_ONCE]).astype(np.float64) / 255
        total, squares = total + some.sum(axis=(0, 1, 2)), squares + (some**2).sum(axis=(0, 1, 2))
        count += some[..., 0].size
    mean = np.asarray(total) / count
    return mean, np.sqrt(np.maximum(np.asarray(squares) / count - mean**2, 255.0**-2))
