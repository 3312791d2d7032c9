"""With what a model was made: versions and hardware; no host names, no user names, no paths."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from chainrule import __version__
from chainrule.threads import cores

PACKAGES = ("numpy", "numba", "tokenizers", "safetensors", "pydantic", "PyYAML", "typer", "rich", "array-api-compat",
            "charset-normalizer", "torch", "duckdb")


def environment() -> dict[str, Any]:
    """What environment.json says."""
    return {
        "chainrule": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "packages": {name: version for name in PACKAGES if (version := installed(name))},
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "threads": cores(),
        "memory": memory(),
    }


def installed(name: str) -> str | None:
    """A package's version, without importing it.

    Of its metadata only the line with the version is looked at: `metadata.version` parses all, with the description.
    """
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    line = re.search(r"^Version: *(\S+)", found.read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else found.version


def processor() -> str:
    """The processor's model as the system calls it."""
    table = Path("/proc/cpuinfo")
    if table.exists():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def peak_memory() -> int:
    """Bytes that this process has had at most; Linux' `getrusage` would count the process that started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def memory() -> int:
    """Bytes of memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
