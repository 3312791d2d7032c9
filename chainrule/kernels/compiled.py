"""How kernels are compiled: without the GIL, told of, and kept on disk until the source of one of them changes."""

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
    """The first job that needs a kernel waits for the compiler: whoever follows the steps learns why."""

    def on_start(self, event: Event) -> None:
        steps.debug("compiling kernels, once on this machine")

    def on_end(self, event: Event) -> None:
        """Nothing: the job's next step is told by itself."""


register("numba:compile", _CompileNotice())


def kernel(*, fastmath: bool = False,
           error_model: Literal["python", "numpy"] = "python") -> Callable[[Callable[..., Any]], Any]:
    """Numba's `njit` for a function whose machine code is kept beside it.

    Numba compiles anew when a function's own file has changed, but not when a file has from which it takes other
    kernels, whose code is part of its own: so the name that it is kept by tells the state of all of them.
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
