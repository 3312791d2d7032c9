"""Every task of the course on its data set: classification, tagging, translation, images, speech, music, DNA.

    python benchmarks/tasks.py [NAME ...] [--data ../shared/data] [--seeds 3] [--quick] [--out FOLDER]

Each name is a script beside this one, `tasks_NAME.py`, with a docstring of its own that says what it needs. They run
one after the other; what each prints is printed, and FOLDER gets NAME.json and NAME.log. `--quick` trains for seconds,
to see that all of it works. `--together 14` runs the trials of all scripts in one pool of so many processes, in the
order in which `--only` names them, and ends after `--seconds`: for a GPU that is lent for minutes. The results, with
the goals beside them, are in RESULTS.md.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path

from trials import run, show

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
    parser.add_argument("--together", type=int, metavar="JOBS")
    parser.add_argument("--only", nargs="+", metavar="TRIAL", help="with --together; TRIAL:2 has two seeds")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--vectors", nargs="+", default=[], metavar="NAME=FILE", help="for classification and tagging")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark named {unknown[0]!r}, expected some of {', '.join(NAMES)}")
    given.out.mkdir(parents=True, exist_ok=True)
    if given.together:
        return together(given, given.names or NAMES)
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


def together(given: argparse.Namespace, names: list[str]) -> int:
    """The trials of several scripts side by side."""
    work, until = given.out / "work", time.monotonic() + given.seconds
    work.mkdir(parents=True, exist_ok=True)
    vectors = dict(each.split("=", 1) for each in given.vectors)
    found = {}
    for name in names:
        own = {"vectors": vectors[name]} if name in vectors else {}
        made = importlib.import_module(f"tasks_{name}").trials(Path(given.data), work, given.quick, **own)
        found |= {each.name: each for each in made}
    wanted = [each.partition(":") for each in given.only or found]
    trials = [(found[name], int(seeds or given.seeds)) for name, _, seeds in wanted]
    quick = ["training.budget.steps=3"] if given.quick else []
    results = run(trials, work, jobs=given.together, until=until, changes=quick, out=given.out / "tasks.json")
    show([each for each, _ in trials], results)
    return sum("failed" in each for each in results)


if __name__ == "__main__":
    sys.exit(main())
