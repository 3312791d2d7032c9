"""`chainrule doctor`: what is installed, what the machine has, and what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import Json, emit, table
from chainrule.cli.terminal.units import scaled_bytes

EXTRAS = {"torch": {"extra": "neural", "adds": "every neural family"},
          "duckdb": {"extra": "scale", "adds": "parquet files and jsonl beyond memory"}}


def doctor(json: Json = False) -> None:
    """Show versions, hardware and caches, and what is missing.

    Examples:

        chainrule doctor
        chainrule doctor --json
    """
    from chainrule.storage.environment import environment, installed
    from chainrule.storage.verified import cache_folder

    cache = cache_folder()
    found = {
        **environment(),
        "disk_free": shutil.disk_usage(Path.cwd()).free,
        "cache": {"folder": str(cache), "bytes": _size(cache), "writable": _writable(cache)},
        "kernels": _kernels(),
        "gpu": _gpus() if installed("torch") else [],
        "missing": {name: gain for name, gain in EXTRAS.items() if not installed(name)},
    }
    emit(found, json, _show)


def _kernels() -> dict[str, Any]:
    """Compiled Numba kernels on disk: without them the first large job waits for the compiler."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(own) if own else Path(__file__).parents[1] / "kernels" / "__pycache__"
    compiled = list(folder.rglob("*.nbc")) if folder.exists() else []
    return {"folder": str(folder), "compiled": len(compiled), "bytes": sum(each.stat().st_size for each in compiled),
            "writable": _writable(folder)}


def _gpus() -> list[str]:
    """Asks torch in a separate process: its import takes seconds, and a broken driver must not end this one."""
    code = "import torch; print(*(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())), sep='\\n')"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return []
    return [line for line in done.stdout.splitlines() if line]


def _size(folder: Path) -> int:
    return sum(each.lstat().st_size for each in folder.rglob("*") if each.is_file()) if folder.exists() else 0


def _writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _show(found: dict[str, Any]) -> None:
    cache, kernels = found["cache"], found["kernels"]
    rows = [
        ("chainrule", found["chainrule"]),
        ("Python", f"{found['python']} ({found['implementation']}) on {found['system']} {found['machine']}"),
        ("packages", ", ".join(f"{name} {version}" for name, version in found["packages"].items())),
        ("processor", f"{found['processor']}, {found['cores']} cores, {found['threads']} threads used"),
        ("memory", scaled_bytes(found["memory"])),
        ("disk free here", scaled_bytes(found["disk_free"])),
        ("cache", f"{cache['folder']}, {scaled_bytes(cache['bytes'])}"
                  + ("" if cache["writable"] else ", NOT writable")),
        ("kernels", f"{kernels['compiled']} compiled, {scaled_bytes(kernels['bytes'])}, in {kernels['folder']}"
                    + ("" if kernels["writable"] else ", NOT writable: kernels are compiled again in every process")),
        ("GPU", ", ".join(found["gpu"]) or ("unknown without torch" if "torch" in found["missing"] else "none")),
    ]
    rows += [(f"missing: {name}", f"would add {each['adds']}; pip install 'chainrule[{each['extra']}]'")
             for name, each in found["missing"].items()]
    table(["what", "found"], rows)
