"""Every task of the course on its data set: classification, tagging, translation, images, speech, music, DNA.

    python benchmarks/tasks.py [NAME ...] [--data ../shared/data] [--seeds 3] [--quick] [--out FOLDER]

Each name is a script beside this one, `tasks_NAME.py`, with a docstring of its own that says what it needs. They run
one after the other; what each prints is printed, and FOLDER gets NAME.json and NAME.log. `--quick` trains for seconds,
to see that all of it works. The results, with the goals beside them, are in RESULTS.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem.removeprefix("tasks_") for path in HERE.glob("tasks_*.py"))


def main() -> int:
    """Runs the scripts; the exit code is the number that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("task-results"))
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark named {unknown[0]!r}, expected some of {', '.join(NAMES)}")
    given.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in given.names or NAMES:
        print(f"== {name}", flush=True)
        command = [sys.executable, str(HERE / f"tasks_{name}.py"), "--data", given.data, "--seeds", str(given.seeds),
                   "--out", str(given.out / f"{name}.json"), *(["--quick"] if given.quick else [])]
        with (given.out / f"{name}.log").open("w") as log:
            failed += [name] if subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode else []
        print((given.out / f"{name}.log").read_text(), flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
