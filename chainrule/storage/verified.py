"""Which large files have been hashed before: a file that was not touched since need not be read again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from chainrule.errors import StorageError
from chainrule.storage.manifest import Entry, check_content

ALWAYS_BELOW = 64 * 2**20  # bytes; smaller files are hashed at every opening
logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/chainrule`, or `~/.cache/chainrule`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chainrule"


def check_once(path: Path, entry: Entry) -> None:
    """Hashes the file, unless it is large and the very same file (inode, size, times) was found good before."""
    before = _state(path)
    if entry.size >= ALWAYS_BELOW and _recalled(path) == {**before, "sha256": entry.sha256}:
        return
    check_content(path, entry)
    if _state(path) != before:
        raise StorageError(f"{path}: changed while it was read. Try again when no program writes to it.")
    if entry.size >= ALWAYS_BELOW:
        remember(path, entry)


def once(path: Path, what: str, check: Callable[[], None]) -> None:
    """Runs a check of a file's content, unless the file is large and the very same file has passed it before."""
    before = _state(path)
    large = path.stat().st_size >= ALWAYS_BELOW
    if large and _recalled(path, what) == before:
        return
    check()
    if large:
        _write_note(_note(path, what), before)


def remember(path: Path, entry: Entry) -> None:
    """Notes that the file, as it is now, has this content. Without a cache folder the next opening hashes again."""
    if entry.size < ALWAYS_BELOW:
        return
    _write_note(_note(path), {**_state(path), "sha256": entry.sha256})


def _write_note(note: Path, content: dict[str, object]) -> None:
    partial = note.with_name(f"{note.name}.{secrets.token_hex(4)}")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(content), encoding="utf-8")
        partial.replace(note)
    except OSError as error:
        logger.debug("not remembered: %s", error)


def _recalled(path: Path, what: str = "") -> dict[str, object] | None:
    try:
        return json.loads(_note(path, what).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _note(path: Path, what: str = "") -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve()) + what.encode()).hexdigest()
    return cache_folder() / "verified" / f"{name}.json"


def _state(path: Path) -> dict[str, object]:
    s = path.stat()
    return {"device": s.st_dev, "inode": s.st_ino, "size": s.st_size, "changed": [s.st_mtime_ns, s.st_ctime_ns]}
