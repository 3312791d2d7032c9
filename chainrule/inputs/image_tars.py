"""Images inside a .tar file: read where they lie, by their names; nothing is unpacked to the disk."""

from __future__ import annotations

import tarfile
from functools import lru_cache
from pathlib import Path

from chainrule.errors import DataError, did_you_mean
from chainrule.text.corpora.packing import AGAIN, readable

LARGEST = 1 << 28  # bytes of one member: no image that is read here has more
MEMBER = "#"  # between the archive and the name in it


def is_tar(path: Path) -> bool:
    return path.suffix.lower() == ".tar"


def member_at(value: str) -> bytes | None:
    """The file that a value `images.tar#name.jpg` names; None where it is another value."""
    name, _, member = value.partition(f".tar{MEMBER}")
    if not member:
        return None
    path = Path(f"{name}.tar")
    offset, size = place_of(path, member)
    with readable(path), path.open("rb") as stream:
        stream.seek(offset)
        return stream.read(size)


def place_of(path: Path, member: str) -> tuple[int, int]:
    """Where a member begins in the archive, and its size; one that is not there is an error."""
    with readable(path):
        found = path.stat()
    places = _places(path, found.st_mtime_ns, found.st_size)
    if member not in places:
        raise DataError(f"{path}: no file {member!r} in it.{did_you_mean(member, list(places)[:1000])}")
    return places[member]


@lru_cache(maxsize=4)
def _places(path: Path, changed: int, size: int) -> dict[str, tuple[int, int]]:
    """Ordinary files by name; links, devices and other things are left out."""
    try:
        with readable(path), tarfile.open(path, "r:") as archive:
            found = {own.name.removeprefix("./"): (own.offset_data, own.size) for own in archive if own.isreg()
                     and own.size <= LARGEST}
    except tarfile.TarError as error:
        raise DataError(f"{path}: not a .tar file, or a damaged one ({error}). {AGAIN}") from None
    cut = [name for name, (offset, own) in found.items() if offset + own > size]
    if cut:
        raise DataError(f"{path}: the .tar file was cut: {cut[0]} ends behind its end. {AGAIN}")
    return found
