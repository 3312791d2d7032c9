"""Two folders change places in one step, so that there is no moment without a valid one."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

AT_FDCWD = -100 if sys.platform.startswith("linux") else -2
EXCHANGE = 2  # RENAME_EXCHANGE of Linux' renameat2 and RENAME_SWAP of macOS' renameatx_np
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def swap(new: Path, old: Path) -> None:
    """`old` becomes `new` and `new` becomes `old`, atomically where the system can, else in three renames."""
    code = _exchange(os.fsencode(new), os.fsencode(old))
    if code in UNSUPPORTED:
        _in_three_steps(new, old)
    elif code:
        raise OSError(code, os.strerror(code), str(old))


def _exchange(a: bytes, b: bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    function = getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)
    if function is None:
        return errno.ENOSYS
    return ctypes.get_errno() if function(AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) else 0


def aside(old: Path) -> Path:
    """Where the old folder waits if its file system lacks the exchange, as network file systems do."""
    return old.with_name(f".{old.name}.replaced")


def _in_three_steps(new: Path, old: Path) -> None:
    """Killed after the first rename, the old run is still whole, aside; `open_run` says so."""
    os.rename(old, aside(old))
    try:
        os.rename(new, old)
    except BaseException:
        os.rename(aside(old), old)
        raise
    os.rename(aside(old), new)
