"""Image files as arrays of bytes: read with Pillow, turned upright, without transparency, in one size."""

from __future__ import annotations

import importlib.util
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.text.corpora.packing import readable

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")  # no other decoder is tried, whatever the file claims to be
MOST = 1 << 26  # pixels of an image, about 67 million: a small file can hold far more, and fill the memory
GRAY = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")
INSTALL = "images need pillow, which is not installed. Try: pip install 'chainrule[images]'"
Size = tuple[int, int]  # height, width


def check_pillow() -> None:
    """A clear line where Pillow is missing."""
    if importlib.util.find_spec("PIL") is None:
        raise UsageError(INSTALL)


def read_image(path: Path, size: Size | None = None, channels: int | None = None) -> np.ndarray:
    """(H, W, C) bytes of an image file; of an animation its first frame.

    C is 1 for gray images and 3 for others, unless `channels` says. What is transparent is put on white, and the
    orientation that a camera wrote into the file is applied. With a `size`, the middle of the image is cut out as
    large as its sides allow, in the proportions of the size, and scaled.
    """
    check_pillow()
    with readable(path):
        if not path.stat().st_size:
            raise DataError(f"{path}: an empty file, expected an image.")
    return as_array(_decoded(path, str(path), size), size, channels)


def read_image_bytes(data: bytes, name: str, size: Size | None = None, channels: int | None = None) -> np.ndarray:
    """The same of an image file that is in memory; `name` is what messages call it."""
    check_pillow()
    if not data:
        raise DataError(f"{name}: an empty file, expected an image.")
    return as_array(_decoded(io.BytesIO(data), name, size), size, channels)


def as_array(picture: Any, size: Size | None = None, channels: int | None = None) -> np.ndarray:
    """The same of a picture of Pillow's in mode L or RGB."""
    from PIL import Image, ImageOps

    if size is not None and (picture.height, picture.width) != tuple(size):
        picture = ImageOps.fit(picture, (size[1], size[0]), method=Image.Resampling.BILINEAR)
    if channels is not None and picture.mode != (mode := "L" if channels == 1 else "RGB"):
        picture = picture.convert(mode)
    found = np.asarray(picture, np.uint8)
    return found[:, :, None] if found.ndim == 2 else found


def resized(image: np.ndarray, size: Size | None, channels: int | None) -> np.ndarray:
    """An array (H, W, C) that was read before, cut and scaled as `read_image` does."""
    if (size is None or image.shape[:2] == tuple(size)) and channels in (None, image.shape[2]):
        return image
    check_pillow()
    from PIL import Image

    return as_array(Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image), size, channels)


def _decoded(source: Any, path: str, size: Size | None) -> Any:
    """A picture in mode L or RGB, upright; whatever is wrong with the file is one line."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged metadata, or many pixels, which are counted here
            with Image.open(source, formats=FORMATS) as file:
                if file.width * file.height > MOST:
                    raise _too_large(path, f"{file.width:,} × {file.height:,}")
                if size is not None:
                    file.draft(None, (2 * size[1], 2 * size[0]))  # a JPEG can be read smaller than it is
                return _opaque(ImageOps.exif_transpose(file))
    except DataError:
        raise
    except UnidentifiedImageError:
        raise DataError(f"{path}: not an image that can be read, expected {', '.join(FORMATS)}.") from None
    except Image.DecompressionBombError:
        raise _too_large(path, "far more") from None
    except Exception as error:  # decoders raise errors of many kinds for files that are cut or damaged
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: the image is cut or damaged ({said}). Copy or download it again.") from None


def _opaque(picture: Any) -> Any:
    """On white where it is transparent; 16 bits a pixel become 8."""
    from PIL import Image

    if picture.mode.startswith("I") or picture.mode == "F":
        levels = np.asarray(picture)
        return Image.fromarray((np.clip(levels, 0, 65535).astype(np.uint16) >> 8).astype(np.uint8))
    plain = "L" if picture.mode in GRAY else "RGB"
    if not picture.has_transparency_data:
        return picture.convert(plain)
    layered = picture.convert("RGBA")
    white = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(white, layered).convert(plain)


def _too_large(path: str, pixels: str) -> DataError:
    return DataError(f"{path}: {pixels} pixels, expected at most {MOST:,} in all. Make it smaller first.")
