"""Arrays of pixels as PNG files, as pictures inside a figure, and several in one grid: nothing has to be installed."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from chainrule.figures.drawing import ABOVE, BELOW

COLOR_TYPES = {1: 0, 3: 2, 4: 6}  # by channels: gray, red-green-blue, and that with opacity


def png_bytes(image: np.ndarray) -> bytes:
    """A PNG file of (H, W, C) bytes, C 1, 3 or 4 (ISO/IEC 15948: signature, then IHDR, IDAT and IEND)."""
    height, width, channels = image.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # a filter of 0 before each row: as it is
    rows[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, COLOR_TYPES[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, (b"IHDR", b"IDAT", b"IEND"),
                                               (head, zlib.compress(rows.tobytes(), 9), b"")))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def drawn(image: np.ndarray, left: float, top: float, width: float, height: float) -> str:
    """The picture as an element of SVG, its pixels as squares."""
    data = base64.b64encode(png_bytes(image)).decode()
    return (f'<image x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>\n')


def heat(values: np.ndarray, most: float | None = None) -> np.ndarray:
    """(H, W, 4) bytes: above 0 in one color, below in another, the more opaque the larger; `most` is opaque."""
    most = most or float(np.abs(values).max()) or 1.0
    share = np.clip(np.abs(values) / most, 0, 1)
    colors = np.array([[int(color[n:n + 2], 16) for n in (1, 3, 5)] for color in (ABOVE, BELOW)], np.uint8)
    return np.concatenate([colors[(values < 0).astype(int)], np.round(255 * share).astype(np.uint8)[..., None]], axis=2)


def mosaic(images: Sequence[np.ndarray], scale: int = 1, gap: int = 2) -> np.ndarray:
    """(H, W, C): images of one shape in rows, as near to a square as can be, each pixel `scale` wide."""
    columns = math.ceil(math.sqrt(len(images)))
    rows = -(-len(images) // columns)
    height, width = (size * scale for size in images[0].shape[:2])
    found = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, images[0].shape[2]), 255, np.uint8)
    for number, image in enumerate(images):
        top, left = (number // columns) * (height + gap), (number % columns) * (width + gap)
        found[top:top + height, left:left + width] = image.repeat(scale, axis=0).repeat(scale, axis=1)
    return found
