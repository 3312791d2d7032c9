"""What a process takes: wall time, processor time and peak memory, measured by the system and not by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Of one process and its children."""

    wall: float  # seconds
    cpu: float  # seconds, all threads together
    memory: int  # bytes, the largest resident set
    output: str


def measured(command: Sequence[str], *, env: Mapping[str, str] | None = None, stdin: Path | None = None,
             stdout: Path | None = None) -> Cost:
    """Runs a command to its end; a failure is an error that shows what it said.

    It reads from the file `stdin`; what it prints goes to the file `stdout`, and only errors into `output`.
    """
    began = time.perf_counter()
    with ExitStack() as files:
        reads = files.enter_context(stdin.open("rb")) if stdin else None
        writes = files.enter_context(stdout.open("wb")) if stdout else subprocess.PIPE
        process = subprocess.Popen(command, stdin=reads, stdout=writes, env={**os.environ, **(env or {})},
                                   stderr=subprocess.PIPE if stdout else subprocess.STDOUT)
    said = process.stderr if stdout else process.stdout
    assert said is not None
    output = said.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with {process.returncode}:\n{output}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)
