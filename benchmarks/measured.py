"""What a process takes: wall time, processor time and peak memory, measured by the system and not by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Of one process and its children."""

    wall: float  # seconds
    cpu: float  # seconds, all threads together
    memory: int  # bytes, the largest resident set
    output: str


def measured(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Cost:
    """Runs a command to its end; a failure is an error that shows what it said."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, **(env or {})})
    assert process.stdout is not None
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with {process.returncode}:\n{output}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)
