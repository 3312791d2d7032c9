"""How kernels are compiled: without the GIL, with a message, and cached on disk until a source changes."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from numba import njit
from numba.core.event import Event, Listener, register

IMPORT = re.compile(rb"^from chainrule\.kernels\.(\w+) import", re.MULTILINE)
steps = logging.getLogger("chainrule.steps")


class _CompileNotice(Listener):
    """Logs that a kernel is being compiled, since the first job that needs it waits for the compiler."""

    def on_start(self, event: Event) -> None:
        steps.debug("compiling kernels, once on this machine")

    def on_end(self, event: Event) -> None:
        """Nothing: the job's next step is logged by itself."""


register("numba:compile", _CompileNotice())


def _ask_for_scipy_without_loading_it() -> None:
    """Numba imports scipy.linalg before any kernel, only to know whether it is there: half a second.

    Whoever compiles a product of matrices still gets Numba's own check, at that time.
    """
    from importlib.util import find_spec

    from numba.np import linalg

    def installed() -> None:
        if find_spec("scipy") is None:
            raise ImportError("scipy is not installed")

    check = linalg.ensure_blas
    linalg.ensure_blas = installed
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = check


_ask_for_scipy_without_loading_it()


def kernel(*, fastmath: bool = False,
           error_model: Literal["python", "numpy"] = "python") -> Callable[[Callable[..., Any]], Any]:
    """Numba's `njit` for a function whose machine code is kept beside it.

    Numba compiles again when a function's own file has changed, but not when a file has changed from which it imports
    other kernels, whose code it contains. So the name in the cache has a fingerprint of all these files.
    """
    def compiled(function: Callable[..., Any]) -> Any:
        function.__qualname__ += "." + fingerprint(Path(function.__code__.co_filename))
        return njit(cache=True, nogil=True, fastmath=fastmath, error_model=error_model)(function)

    return compiled


@cache
def fingerprint(path: Path) -> str:
    """Of a file and of the kernels that it imports, and so on."""
    source = path.read_bytes()
    digest = sha256(source)
    for name in sorted(set(IMPORT.findall(source))):
        digest.update(fingerprint(path.with_name(f"{name.decode()}.py")).encode())
    return digest.hexdigest()[:12]
