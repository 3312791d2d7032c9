"""MANIFEST.json: size and SHA-256 of every file of a run folder, and a checksum of itself."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from chainrule.errors import StorageError

NAME = "MANIFEST.json"
VERSION = 1
LARGEST = 64 << 20  # bytes of a manifest: more than 300,000 files
HINT = "Restore it from a copy, or train again."


@dataclass(frozen=True)
class Entry:
    """What one file must be."""

    size: int
    sha256: str


def hashed(path: Path) -> Entry:
    """Size and SHA-256 of a file as it is on disk."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Entry(file.tell(), digest)


def manifest_bytes(files: Mapping[str, Entry]) -> bytes:
    """The one spelling of a manifest; its own checksum is over the spelling without it."""
    content: dict[str, Any] = {
        "version": VERSION,
        "files": {name: {"size": entry.size, "sha256": entry.sha256} for name, entry in sorted(files.items())},
    }
    content["checksum"] = hashlib.sha256(_spelled(content)).hexdigest()
    return _spelled(content)


def read_manifest(folder: Path) -> dict[str, Entry]:
    """The files a run folder must have. Any changed byte of the manifest itself is found."""
    path = folder / NAME
    try:
        check_regular(path)
        if path.stat().st_size > LARGEST:
            raise StorageError(f"{path}: {path.stat().st_size:,} bytes, expected a manifest of at most {LARGEST:,}.")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise StorageError(f"{folder}: no {NAME}: this is not a run folder, or its saving was cut short.") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}.") from None
    try:
        content = json.loads(raw)
        version = content["version"]
        files = {str(name): Entry(int(each["size"]), str(each["sha256"])) for name, each in content["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StorageError(f"{path}: not a manifest; the file was changed or damaged. {HINT}") from None
    if isinstance(version, int) and version > VERSION:
        raise StorageError(f"{path}: version {version}, expected {VERSION}. A newer chainrule wrote it: upgrade.")
    if raw != manifest_bytes(files):
        raise StorageError(f"{path}: differs from its own checksum; the file was changed or damaged. {HINT}")
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise StorageError(f"{path}: names {name!r}, which is outside the folder.")
    return files


def check_regular(path: Path) -> None:
    """Refuses what is there and is no file or folder: reading a pipe may wait, and a device may have no end."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # who reads it will say why it cannot be read
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise StorageError(f"{path}: a pipe or a device, expected a regular file. Remove it, or copy the run again.")


def check_presence(folder: Path, name: str, entry: Entry) -> Path:
    """The file, if it is there and has its size."""
    path = folder / name
    check_regular(path)
    if not path.is_file():
        raise StorageError(f"{path}: missing, though {NAME} lists it. {HINT}")
    size = path.stat().st_size
    if size != entry.size:
        raise StorageError(f"{path}: {size:,} bytes, expected {entry.size:,} as in {NAME}; "
                           f"the file was changed or damaged. {HINT}")
    return path


def check_content(path: Path, entry: Entry) -> None:
    """Reads the whole file."""
    try:
        found = hashed(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}. {HINT}") from None
    if found != entry:
        raise StorageError(f"{path}: SHA-256 differs from {NAME}; the file was changed or damaged. {HINT}")


def _spelled(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=True) + "\n").encode("ascii")
