"""Folders of derived files in the user's cache, named by what they were made from and written atomically."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from chainrule.errors import StorageError
from chainrule.storage.manifest import Entry, check_presence, hashed
from chainrule.storage.partial import partial_folder, sweep
from chainrule.storage.verified import cache_folder, check_once

CHECKSUMS = "checksums.json"
LIMIT = 20 << 30  # bytes kept; the folders that were unused for longest go first


def cached(kind: str, key: str, fill: Callable[[Path], None]) -> Path:
    """The folder for a key; `fill` makes it the first time, in a temporary folder that is then renamed."""
    home = cache_folder() / kind
    folder = home / key
    try:
        if _is_whole(folder):
            with suppress(OSError):  # a cache that may only be read is good enough
                os.utime(folder)
            return folder
        home.mkdir(parents=True, exist_ok=True)
        sweep(home)
        with partial_folder(folder) as made:
            fill(made)
            _seal(made)
            _put(made, folder)
        _forget_oldest(home, keep=folder)
    except OSError as error:
        raise StorageError(f"{home}: the cache cannot be written ({error.strerror or error}). Free some space, or set "
                           "XDG_CACHE_HOME to another folder.") from None
    return folder


def _seal(folder: Path) -> None:
    """Everything is on the disk before the list of checksums, which says that the folder is whole, is written."""
    entries = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        entries[path.name] = asdict(hashed(path))
    (folder / CHECKSUMS).write_text(json.dumps(entries))


def _is_whole(folder: Path) -> bool:
    """Whether its files are those that were put there; large ones are hashed again only where they were touched."""
    try:
        for name, entry in json.loads((folder / CHECKSUMS).read_text()).items():
            check_once(check_presence(folder, name, Entry(**entry)), Entry(**entry))
    except (FileNotFoundError, ValueError, TypeError, AttributeError, StorageError):
        return False
    return True


def _put(made: Path, folder: Path) -> None:
    """Another process may have made the same folder meanwhile: then either will do."""
    if folder.exists() and not _is_whole(folder):
        shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        try:
            made.rename(folder)
        except OSError:
            if not _is_whole(folder):
                raise


def _forget_oldest(home: Path, keep: Path) -> None:
    sizes = {folder: sum(path.stat().st_size for path in folder.iterdir())
             for folder in home.iterdir() if folder.is_dir() and not folder.name.startswith(".")}
    total = sum(sizes.values())
    for folder in sorted(sizes, key=lambda folder: folder.stat().st_mtime):
        if total > LIMIT and folder != keep:
            shutil.rmtree(folder, ignore_errors=True)
            total -= sizes[folder]
