"""Programs for tests that would start hundreds of Pythons: each runs in a forked copy of one that imported torch once.

`programs()` is a folder with `chainrule` and `python`, to be first on PATH; `python()` takes the place of
`sys.executable`. Both do what the real ones do (tests/docs/test_warm_python.py), in a fraction of the time. A test of
how a program starts, of what it imports or of its limits starts the real ones.
"""

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
CHAINRULE = Path(sys.executable).with_name("chainrule")


def environment(**more: str) -> dict[str, str]:
    """What programs are started with: that of the tests, in UTF-8, whatever the machine's language."""
    return {**os.environ, "PYTHONUTF8": "1", **more}


@cache
def programs() -> Path:
    """The folder of the programs; the server is started, and ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    client = [sys.executable, "-IS", HERE / "warm_client.py", folder / "socket", sys.executable, folder / "python"]
    if not hasattr(os, "pidfd_open"):  # the server needs Linux: elsewhere these are the real ones
        client = [sys.executable]
    for name, words in (("python", client), ("chainrule", [*client, CHAINRULE])):
        (folder / name).write_text(f"#!/bin/sh\nexec {shlex.join(map(str, words))} \"$@\"\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    if hasattr(os, "pidfd_open"):
        _start(folder)
    return folder


def python() -> str:
    return str(programs() / "python")


def chainrule() -> str:
    return str(programs() / "chainrule")


def _start(folder: Path) -> None:
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen([sys.executable, HERE / "warm_server.py", folder / "socket"], env=environment(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    assert server.stdout is not None and server.stdin is not None
    ready = server.stdout.readline()
    assert ready == b"ready\n", (folder / "log.txt").read_text(encoding="utf-8")

    @atexit.register
    def end() -> None:
        server.stdin.close()
        assert server.wait() == 0, (folder / "log.txt").read_text(encoding="utf-8")
