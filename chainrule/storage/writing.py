"""Writing a run folder atomically, whatever happens in between.

The files are made in a hidden folder beside the target, `.NAME.partial-PID-RANDOM`, which its writer keeps locked.
They are synced, then MANIFEST.json is, and only then is the folder renamed. A writer that dies leaves an unlocked
partial folder, which the next writer there removes.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chainrule.errors import StorageError
from chainrule.storage.manifest import NAME, Entry, hashed, manifest_bytes, read_manifest
from chainrule.storage.partial import partial_folder, sweep
from chainrule.storage.run_folder import extra_files
from chainrule.storage.swapping import aside, swap
from chainrule.storage.verified import remember

DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_run(path: str | Path, fill: Callable[[Path], None], *, replace: bool = False) -> Path:
    """Makes a run folder of what `fill(folder)` writes. With `replace` an older run is replaced in one step."""
    target = Path(os.path.realpath(path))
    try:
        check_target(path, replace=replace)
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        with partial_folder(target) as partial:
            fill(partial)
            files = seal(partial)
            _put_in_place(partial, target, replace=replace)
    except OSError as error:
        raise StorageError(_explained(Path(path), error)) from error
    for name, entry in files.items():
        remember(target / name, entry)
    return Path(path)


def check_target(path: str | Path, *, replace: bool = False) -> None:
    """Refuses a target that cannot be written; call it before hours of work. Only a valid run folder is replaced."""
    target = Path(os.path.realpath(path))
    if not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir())):
        check_writable(path, target)
        return
    if not target.is_dir():
        raise StorageError(f"{path}: a file is there, expected the name of a new folder.")
    try:
        extra = extra_files(target, read_manifest(target))
    except StorageError as error:
        raise StorageError(f"{path}: exists and is not a run folder, so it is left alone ({error}) "
                           "Remove it by hand, or choose another folder.") from None
    if not replace:
        raise StorageError(f"{path}: there is a run already. Choose another folder, or replace it with --force.")
    if extra:
        raise StorageError(f"{path}: holds {extra[0]!r}, which is not part of the run. Move it away first.")
    check_writable(path, target)


def seal(folder: Path) -> dict[str, Entry]:
    """Gives every file the umask's mode, syncs it and lists it; the manifest is written last."""
    mode = folder.stat().st_mode & 0o666  # mkdir has applied the umask to the folder
    found = sorted(folder.rglob("*"))
    paths = [path for path in found if not path.is_dir()]
    for path in paths:
        os.chmod(path, mode)
    with ThreadPoolExecutor(1) as disk:  # syncs while we hash
        synced = disk.map(sync, found)
        files = {path.relative_to(folder).as_posix(): hashed(path) for path in paths}
        for _ in synced:  # raises what a sync raised
            continue
    with (folder / NAME).open("xb") as file:
        file.write(manifest_bytes(files))
        file.flush()
        os.fsync(file.fileno())
    sync(folder)
    return files


def sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put_in_place(partial: Path, target: Path, *, replace: bool) -> None:
    if replace and target.exists() and any(target.iterdir()):
        check_target(target, replace=True)  # check again: `fill` may have taken hours
        swap(partial, target)
    else:
        os.rename(partial, target)  # fails if another process has put a run there meanwhile
    sync(target.parent)
    shutil.rmtree(aside(target), ignore_errors=True)  # left by an interrupted swap


def check_writable(path: str | Path, target: Path) -> None:
    """Refuses a name that cannot be made where it is; folders on the way to it may be missing."""
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise StorageError(f"{path}: {parent} is a file, expected a folder.")
    if len(os.fsencode(target.name)) > (longest := os.pathconf(parent, "PC_NAME_MAX")):
        raise StorageError(f"{path}: File name too long, expected at most {longest} bytes. Choose a shorter one.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise StorageError(f"{path}: {parent} cannot be written to. Choose another folder.")


def _explained(path: Path, error: OSError) -> str:
    if error.errno in FULL:
        return f"{path}: no space left on the disk. Nothing was saved and nothing replaced; free some and try again."
    if error.errno in DENIED:
        return f"{path}: cannot be written: {error.strerror}. Nothing was saved; choose another folder."
    if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
        return f"{path}: another process has written there meanwhile. Nothing was saved; choose another folder."
    place = f" ({error.filename})" if error.filename else ""
    return f"{path}: not saved: {error.strerror or error}{place}."
