"""Partial folders: locked while being written, removed if writing fails, and cleaned up if the writer died."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PATTERN = re.compile(r"\..+\.partial-[0-9]+-[0-9a-f]{8}")


@contextmanager
def partial_folder(target: Path) -> Iterator[Path]:
    """A hidden sibling of the target; what is left of it at the end is removed."""
    path = target.with_name(f".{target.name[:40]}.partial-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with ExitStack() as locks:
            while not path.exists():  # again if it was removed before it was locked
                path.mkdir()
                with suppress(FileNotFoundError):
                    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                    locks.callback(os.close, handle)
                    _locked(handle, fcntl.LOCK_EX)
            yield path
    finally:
        try:
            shutil.rmtree(path, ignore_errors=True)
        finally:
            shutil.rmtree(path, ignore_errors=True)  # a second signal may have cut the first short


def sweep(parent: Path) -> None:
    """Removes the partial folders whose writers are gone: those that are not locked."""
    for path in parent.glob(".*.partial-*"):
        if not PATTERN.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
            continue
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue  # another process removed it, or we may not open it
        if _locked(handle, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _locked(handle: int, how: int) -> bool | None:
    """True if we got the lock, False if another process has it, None if the file system has no locks."""
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
