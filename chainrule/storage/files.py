"""Files: created atomically, and opened whatever their compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

from chainrule.errors import DataError, StorageError
from chainrule.storage.partial import partial_folder, sweep
from chainrule.storage.writing import sync

ANY_SIZE = 1 << 30  # bytes that every packed file may hold
EXPANSION = 500  # times its size that a larger one may hold: text reaches some 100, a gzip file of nothing 1,030
PACKINGS: dict[bytes, Callable[[BinaryIO], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}


class Expanding:
    """The stream of a packed file, which ends with an error where it holds far more than any text of its size."""

    def __init__(self, stream: Any, path: Path, most: int = EXPANSION, option: str = ""):
        self.stream, self.path, self.most, self.option = stream, path, most, option
        self.room = max(ANY_SIZE, most * path.stat().st_size)

    def read(self, size: int = -1) -> bytes:
        return self._counted(self.stream.read(size if size >= 0 else self.room + 1))

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self.stream.readline(size if size >= 0 else self.room + 1))

    def _counted(self, data: bytes) -> bytes:
        self.room -= len(data)
        if self.room < 0:
            other = f", or set {self.option}={2 * self.most}" if self.option else ""
            raise DataError(f"{self.path}: holds more than {self.most:,} times its size, expected packed text. Unpack "
                            f"it first, if it is meant to be so large{other}.")
        return data


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a plain, .gz, .bz2 or .xz file, known by its first bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(6)
            file.seek(0)
            packing = next((PACKINGS[magic] for magic in PACKINGS if head.startswith(magic)), None)
            yield cast(BinaryIO, Expanding(packing(file), path)) if packing else file
    except EOFError:
        raise DataError(f"{path}: the compressed file was cut: it ends too early. Copy or download it again.") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: the compressed file is damaged ({error}). Copy or download it again.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from None


@contextmanager
def created(path: Path) -> Iterator[Callable[[bytes], object]]:
    """`with created(path) as write:` fills a file that takes its name when all of it is on the disk."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise StorageError(f"{path}: not a regular file, expected the name of a file to write.")
    try:
        sweep(target.parent)
        with partial_folder(target) as folder:
            with open(folder / target.name, "xb") as file, _packed(file, path) as packed:
                yield packed.write
            sync(folder / target.name)
            os.replace(folder / target.name, target)
        sync(target.parent)
    except OSError as error:
        raise StorageError(f"{path}: not written: {error.strerror or error}.") from error


def _packed(file: BinaryIO, path: Path) -> AbstractContextManager[Any]:
    """What is written is compressed if the name says so; the same bytes every time."""
    return gzip.GzipFile("", "wb", 6, file, mtime=0) if path.suffix == ".gz" else nullcontext(file)
