"""Opens a file, packed or not, as one stream of bytes; a cut or damaged one is an error with its name."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from chainrule.errors import DataError
from chainrule.storage.files import Expanding
from chainrule.text.options import EXPANSION


def _open_zst(path: Path, mode: str) -> Any:
    try:
        from compression import zstd  # the standard library's, from Python 3.14
    except ImportError:
        from backports import zstd
    return zstd.open(path, mode)


PACKINGS: dict[str, Callable[[Path, str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".zst": _open_zst}


def unpacked_name(path: Path) -> str:
    """`news.jsonl.gz` → `news.jsonl`."""
    return path.name.removesuffix(path.suffix) if path.suffix.lower() in PACKINGS else path.name


def is_json(path: Path) -> bool:
    """Whether a file's name says that it is one JSON value, packed or not."""
    return Path(unpacked_name(path)).suffix.lower() == ".json"


AGAIN = "Copy or download it again."


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What the system says against reading a file becomes a DataError that names it."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from None


@contextmanager
def open_stream(path: Path, expansion: int = EXPANSION) -> Iterator[BinaryIO]:
    """The unpacked bytes; whatever breaks while they are read becomes a DataError that names the file.

    A packed file that holds more than `expansion` times its size, and more than a gibibyte, is refused.
    """
    packing = PACKINGS.get(path.suffix.lower())
    with readable(path):
        try:
            with (packing or open)(path, "rb") as stream:
                yield Expanding(stream, path, expansion, "text.expansion") if packing else stream  # type: ignore[misc]
        except EOFError:
            raise DataError(f"{path}: the {path.suffix} file was cut: it ends too early. {AGAIN}") from None
        except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            raise DataError(f"{path}: the {path.suffix} file is damaged ({error}). {AGAIN}") from None
        except Exception as error:
            if type(error).__name__ == "ZstdError":  # imported only where a .zst is opened
                raise DataError(f"{path}: the .zst file is damaged ({error}). {AGAIN}") from None
            raise
