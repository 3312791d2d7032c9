"""Where a trial may run on this machine: each GPU is a slot, or the CPU where there is none; a slot may be shared."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field

from chainrule.threads import cores

VISIBLE, THREADS = "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"


@dataclass(frozen=True)
class Slot:
    """What a process in this slot finds in its environment."""

    environment: dict[str, str] = field(default_factory=dict)


def slots(side_by_side: int) -> list[Slot]:
    """So many for each GPU, or for the CPU; processes side by side share the cores evenly, unless OMP_NUM_THREADS says.

    A process that runs alone finds the environment as it is.
    """
    found = gpus() or [""]
    if len(found) * side_by_side == 1:
        return [Slot()]
    threads = {} if THREADS in os.environ else {THREADS: str(max(1, cores() // (len(found) * side_by_side)))}
    return [Slot(threads | ({VISIBLE: gpu} if gpu else {})) for _ in range(side_by_side) for gpu in found]


def gpus() -> list[str]:
    """The GPUs that processes may use, as CUDA_VISIBLE_DEVICES names them; found without importing torch."""
    if VISIBLE in os.environ:
        return [each.strip() for each in os.environ[VISIBLE].split(",") if each.strip() not in ("", "-1", "NoDevFiles")]
    if (program := shutil.which("nvidia-smi")) is None:
        return []
    try:
        done = subprocess.run([program, "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = [line.strip() for line in done.stdout.splitlines()] if done.returncode == 0 else []
    return [line for line in lines if line.isdigit()]
