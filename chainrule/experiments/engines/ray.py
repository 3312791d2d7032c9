"""Trials on a Ray cluster: one on each free GPU or core of any machine; a trial whose worker dies is run again."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chainrule
from chainrule.errors import ChainruleError, OptionError
from chainrule.experiments.engines._engine import Work
from chainrule.experiments.progress import TrialProgress, spent
from chainrule.recipe import plugins
from chainrule.recipe.registry import part

RETRIES, EVERY, PATIENCE = 3, 0.2, 120.0
log = logging.getLogger("chainrule")


@part
class Ray:
    """Each trial is a Ray task; the report's folder and the data lie on a file system that all machines share.

    The cluster is the one that RAY_ADDRESS or `ray start` names, else one of this machine's cores and GPUs. A trial
    takes one GPU, or one core where the cluster has no GPU; with `side_by_side` so many of them share it.
    """

    def __init__(self, side_by_side: int = 1) -> None:
        if side_by_side < 1:
            raise OptionError("--side-by-side", side_by_side, "at least 1")
        self.side_by_side = side_by_side

    def run(self, works: Sequence[Work], progress: TrialProgress, lock: int) -> dict[str, str | None]:
        """Hands all trials to the cluster, and reads what they report until all have ended."""
        ray = connected()
        share = 1 / self.side_by_side
        kind = {"num_gpus": share, "num_cpus": 0} if ray.cluster_resources().get("GPU") else {"num_cpus": share}
        task = ray.remote(max_retries=RETRIES, max_calls=1, **kind)(trained)
        folders = [str(folder) for folder in plugins.folders()]
        running = {task.remote(str(work.task), str(report_of(work)), os.getcwd(), folders): _Reports(work, progress)
                   for work in works}
        failures: dict[str, str | None] = {}
        try:
            while running:
                done, _ = ray.wait(list(running), num_returns=1, timeout=EVERY)
                for each in running.values():
                    each.read()
                for one in done:
                    each = running.pop(one)
                    failures[each.work.folder] = why = each.ended(_failure(ray, one))
                    progress.ended(each.work.label, why)
        except KeyboardInterrupt:
            _cancel(ray, list(running))
            raise
        return failures


def connected() -> Any:
    """Ray, connected to a cluster; started on this machine if there is none."""
    try:
        import ray
    except ImportError:
        raise ChainruleError("--on ray needs Ray. Try: pip install 'chainrule[cluster]'") from None
    if not ray.is_initialized():
        here = str(Path(chainrule.__file__).parents[1])
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        ray.init(log_to_driver=False, logging_level=logging.ERROR)
    return ray


def trained(task: str, reports: str, folder: str, parts: Sequence[str]) -> int:
    """Runs in a worker: a trial as its process has it, from the same folder, with the same plug-ins."""
    from chainrule.experiments.trial import main

    os.chdir(folder)
    for each in parts:
        plugins.add_plugins(each)
    journal = Path(task).with_suffix("").with_suffix(".log")
    with Path(reports).open("a", encoding="utf-8") as lines, journal.open("a", encoding="utf-8") as errors, \
            contextlib.redirect_stdout(lines), contextlib.redirect_stderr(errors):
        print(json.dumps({"pid": os.getpid()}), flush=True, file=sys.stdout)
        return main(task)


def report_of(work: Work) -> Path:
    """The file that a worker reports its progress in."""
    return work.task.with_suffix("").with_suffix(".progress")


@dataclass
class _Reports:
    """What a trial has reported so far."""

    work: Work
    progress: TrialProgress
    place: int = 0
    starts: int = 0
    failure: str | None = None

    def __post_init__(self) -> None:
        report_of(self.work).unlink(missing_ok=True)

    def read(self) -> None:
        """Passes on whole lines that have come since the last time."""
        path = report_of(self.work)
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(self.place)
            whole, line_end, _ = file.read().rpartition(b"\n")
        self.place += len(whole) + len(line_end)
        for line in whole.splitlines():
            self._told(json.loads(line))

    def _told(self, facts: dict[str, Any]) -> None:
        label = self.work.label
        self.failure = facts.get("failed", self.failure)
        if "pid" in facts:
            self.starts += 1
            if self.starts == 1:
                self.progress.started(label)
            else:
                log.info(f"{label}: its worker died; it is run again.")
        elif "progress" in facts:
            self.progress.came(label, facts, spent(facts, self.work.budget))
        elif "stage" in facts:
            self.progress.measuring(label)

    def ended(self, why: str | None) -> str | None:
        """Why it failed, or None."""
        self.read()
        if self.starts == 0:
            self.progress.started(self.work.label)
        if why is None and not self.work.result.exists():
            return self.failure or f"no result in {self.work.result.parent}, expected a folder that all machines share."
        return why and (self.failure or why)


def _failure(ray: Any, one: Any) -> str | None:
    """Why a task failed, by what Ray says; None where it came to its end."""
    try:
        return None if ray.get(one) == 0 else "it failed without a message."
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"its worker failed: {lines[-1].strip()[:300] if lines else type(error).__name__}"


def _cancel(ray: Any, tasks: Sequence[Any]) -> None:
    """Interrupts the trials and waits until each has saved a checkpoint."""
    for one in tasks:
        ray.cancel(one)
    until = time.monotonic() + PATIENCE
    while tasks and time.monotonic() < until:
        done, tasks = ray.wait(list(tasks), num_returns=len(tasks), timeout=1.0)
