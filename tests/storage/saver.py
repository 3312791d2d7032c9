"""Saves a run over and over, as the command line would, until it is stopped: `saver.py TARGET MEGABYTES`."""

import itertools
import sys
from pathlib import Path

from chainrule.cli.terminal.exits import guarded
from chainrule.storage import open_run, write_run


def save_forever(target: Path, megabytes: float) -> None:
    first = int(open_run(target).file("a").read_text(encoding="utf-8").split()[0]) if target.exists() else 0
    for version in itertools.count(first + 1):
        def fill(folder: Path, version: int = version) -> None:
            for name in "abcdef":
                (folder / name).write_text(f"{version} ".ljust(int(megabytes * 2**20 / 6), "x"), encoding="utf-8")
        write_run(target, fill, replace=True)
        if version == first + 1:
            print("saved", flush=True)


if __name__ == "__main__":
    sys.exit(guarded(lambda: save_forever(Path(sys.argv[1]), float(sys.argv[2]))))
