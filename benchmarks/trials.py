"""Trials of the task benchmarks: trainings and evaluations in processes of their own, several side by side.

A script `tasks_NAME.py` makes a list of `Trial`s and hands it to `main`, which reads the options that all of them
have:

    --data FOLDER    the data sets            --seeds N    trainings of each trial            --quick    a few steps
    --jobs N         trials side by side      --seconds S  nothing new is started after that, and what runs is ended
    --only NAME ...  some of the trials       --out FILE   results as JSON, also of trials that were ended early

Each trial is `python benchmarks/trials.py TRIAL.json`: it trains by `chainrule.train` (or `cross_validate`), measures
by `chainrule.evaluate`, and prints one JSON object. A table follows: the mean over seeds ± its standard error, and
the goal.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Trial:
    """One training, and what it is measured on."""

    name: str
    recipe: str
    data: str
    tests: dict[str, dict[str, Any]]  # by name: `data`, and `target` where there are targets
    measure: str  # the figure of the first test that the goal is for
    goal: float | None = None
    changes: tuple[str, ...] = ()
    valid: str | None = None
    target: str | None = None
    valid_target: str | None = None
    folds: int | None = None
    after: str | None = None  # a trial whose run this one begins with: {after} in a change is its folder
    once: bool = False  # trained with one seed, which all that begin with it share
    lower: bool = False  # whether less is better
    more: dict[str, Any] = field(default_factory=dict)  # further options of `chainrule.evaluate`


def main(description: str, trials: Callable[[Path, Path, bool], Sequence[Trial]], quick: Sequence[str]) -> int:
    """Runs the trials that `trials(data, work, quick)` gives; `quick` are changes for a short try."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--quick", action="store_true", help="a few steps, to see that all of it works")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seconds", type=float, default=math.inf)
    options.add_argument("--only", nargs="+")
    options.add_argument("--change", action="append", default=[], help="path=value for every trial")
    options.add_argument("--out", type=Path)
    options.add_argument("--work", type=Path, help="where data and runs lie; a temporary folder if not given")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="chainrule-trials-") as name:
        work = given.work or Path(name)
        work.mkdir(parents=True, exist_ok=True)
        wanted = [each for each in trials(given.data, work, given.quick) if not given.only or each.name in given.only]
        shared = [*given.change, *(quick if given.quick else ())]
        results = run([(each, 1 if given.quick else given.seeds) for each in wanted], work, jobs=given.jobs,
                      until=time.monotonic() + given.seconds, changes=shared, out=given.out)
        show(wanted, results)
    return sum("failed" in each for each in results)


def run(trials: Sequence[tuple[Trial, int]], work: Path, *, jobs: int, until: float, changes: Sequence[str],
        out: Path | None) -> list[dict[str, Any]]:
    """Each trial with its number of seeds, `jobs` at a time; one that begins with another's run waits for it."""
    waiting = [(each, seed) for each, seeds in trials for seed in range(1 if each.once else seeds)]
    shared = {each.name for each, _ in trials if each.once}
    running: dict[tuple[str, int], tuple[subprocess.Popen[str], Path]] = {}
    results: list[dict[str, Any]] = []
    while waiting or running:
        for key, (process, log) in list(running.items()):
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                results.append(_result(key, process, log))
                del running[key]
                if out is not None:
                    out.write_text(json.dumps(results, indent=1) + "\n")
                print(json.dumps({name: results[-1].get(name) for name in ("name", "seed", "seconds", "failed")}),
                      file=sys.stderr, flush=True)
        done = {(each["name"], each["seed"]) for each in results}
        ready = [(each, seed) for each, seed in waiting
                 if each.after is None or (each.after, 0 if each.after in shared else seed) in done]
        if time.monotonic() > until:
            waiting = []
        elif ready and len(running) < jobs:
            trial, seed = ready[0]
            waiting.remove((trial, seed))
            running[trial.name, seed] = _started(trial, seed, work, changes, jobs, 0 if trial.after in shared else seed)
            continue
        time.sleep(0.2)
    return results


def _started(trial: Trial, seed: int, work: Path, changes: Sequence[str], jobs: int, seed_before: int
             ) -> tuple[subprocess.Popen[str], Path]:
    place = work / "runs" / f"{trial.name.replace(' ', '-')}-{seed}"
    place.parent.mkdir(parents=True, exist_ok=True)
    before = "" if trial.after is None else str(work / "runs" / f"{trial.after.replace(' ', '-')}-{seed_before}")
    own = [change.replace("{after}", before) for change in trial.changes]
    asked = {**asdict(trial), "seed": seed, "run": str(place), "changes": _one_budget([*own, *changes, f"seed={seed}"])}
    file, log = place.with_suffix(".json"), place.with_suffix(".log")
    file.write_text(json.dumps(asked))
    threads = max(1, (os.cpu_count() or 1) // jobs)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
    with log.open("w") as errors:
        return subprocess.Popen([sys.executable, __file__, str(file)], stdout=subprocess.PIPE, stderr=errors, text=True,
                                env=environment), log


def _one_budget(changes: list[str]) -> list[str]:
    """Of several budgets the last."""
    budgets = [change for change in changes if change.startswith("training.budget.")]
    return [change for change in changes if change not in budgets[:-1]]


def _result(key: tuple[str, int], process: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    printed = process.communicate()[0].strip()
    if process.returncode == 0 and printed:
        return json.loads(printed.splitlines()[-1])
    said = log.read_text().strip().splitlines()[-3:]
    return {"name": key[0], "seed": key[1], "failed": " | ".join(said) or "ended"}


def perform(asked: dict[str, Any]) -> dict[str, Any]:
    """One trial, in this process."""
    import torch

    import chainrule

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    began = time.perf_counter()
    if asked["folds"]:
        report = chainrule.cross_validate(asked["recipe"], asked["data"], asked["run"], folds=asked["folds"],
                                          overrides=asked["changes"], force=True)
    else:
        report = chainrule.train(asked["recipe"], asked["data"], asked["run"], valid=asked["valid"],
                                 target=asked["target"], valid_target=asked["valid_target"],
                                 overrides=asked["changes"], force=True)
    trained = time.perf_counter()
    found = {name: chainrule.evaluate(asked["run"], test["data"], target=test.get("target"), **asked["more"])
             for name, test in asked["tests"].items()}
    figures = {name: {key: value for key, value in each.items() if key in ("interval", "by_length", "per_type", "files")
                      or isinstance(value, int | float | str)} for name, each in found.items()}
    kept = ("folds", "parameters", "epochs", "steps", "tokens_per_second", "valid", "best", "kept")
    return {"name": asked["name"], "seed": asked["seed"], "recipe": asked["recipe"], "changes": asked["changes"],
            "device": "cuda" if torch.cuda.is_available() else "cpu", "figures": figures,
            "report": {key: report[key] for key in kept if key in report},
            "training_seconds": report.get("seconds", {}).get("training"), "seconds": round(trained - began, 1),
            "evaluation_seconds": round(time.perf_counter() - trained, 1)}


def value_of(trial: Trial, result: dict[str, Any]) -> float | None:
    """The figure that the goal is for: the mean over folds, or that of the first test."""
    if "failed" in result:
        return None
    if trial.folds:
        return result["report"]["folds"][trial.measure]["mean"]
    return next(iter(result["figures"].values()))[trial.measure] if result["figures"] else None


def show(trials: Sequence[Trial], results: Sequence[dict[str, Any]]) -> None:
    """A line for each trial."""
    for trial in trials:
        own = [each for each in results if each["name"] == trial.name]
        values = [value for each in own if (value := value_of(trial, each)) is not None]
        for each in own:
            if "failed" in each:
                print(f"{trial.name}, seed {each['seed']}: failed: {each['failed']}")
        if not values:
            continue
        mean = statistics.mean(values)
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        goal = "" if trial.goal is None else f"  goal {trial.goal:g}: " + (
            "reached" if (mean <= trial.goal if trial.lower else mean >= trial.goal) else "not reached")
        seconds = statistics.mean(each["seconds"] for each in own if "failed" not in each)
        print(f"{trial.name:34} {trial.measure} {mean:.4f} ± {error:.4f} ({len(values)} seeds){goal}  {seconds:.0f} s "
              "each", flush=True)


if __name__ == "__main__":
    print(json.dumps(perform(json.loads(Path(sys.argv[1]).read_text()))))
