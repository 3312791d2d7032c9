"""Runs trials one after the other, each in its own process; finished trials are skipped, a failure is one row."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import chainrule
from chainrule.errors import ChainruleError
from chainrule.experiments.holdout import Source
from chainrule.experiments.measuring import write
from chainrule.experiments.progress import LogLines, TrialProgress, spent
from chainrule.recipe.recipe import Recipe
from chainrule.storage import open_run
from chainrule.storage.json_files import read_object
from chainrule.training.plan import Budget

PATIENCE = 120.0  # seconds that a training has to save a checkpoint when it is stopped


@dataclass(frozen=True)
class Trial:
    """One recipe with one seed."""

    name: str
    folder: str
    seed: int
    recipe: Recipe


@dataclass(frozen=True)
class Setting:
    """What all trials share."""

    out: Path
    source: Source
    fingerprints: tuple[str, str]  # of the text trained on, and of the text held out
    budget: Budget
    prompts: tuple[str, ...]
    passages: tuple[tuple[int, int], ...]
    lock: int  # a file that stays locked as long as a trial lives
    progress: TrialProgress = field(default_factory=LogLines)

    def run(self, trial: Trial) -> Path:
        return self.out / "runs" / trial.folder

    def result(self, trial: Trial) -> Path:
        return self.out / "trials" / f"{trial.folder}.json"


def identity(trial: Trial, setting: Setting) -> str:
    """A hash that identifies a finished trial: version, resolved recipe and text."""
    facts = [chainrule.__version__, trial.recipe.model_dump(mode="json"), setting.fingerprints]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def outcome(trial: Trial, setting: Setting, place: str) -> dict[str, Any]:
    """The facts of a trial, or `{"failed": why}`; it is run unless it has finished before."""
    facts = finished(trial, setting)
    if facts is not None:
        setting.progress.already(f"{place} {trial.name}")
        return facts
    setting.progress.started(f"{place} {trial.name}")
    why = _run_process(trial, setting)
    setting.progress.ended(why)
    return {"failed": why} if why else finished(trial, setting) or {"failed": "it wrote no result."}


def finished(trial: Trial, setting: Setting) -> dict[str, Any] | None:
    """The facts of a finished trial; None if it has not finished."""
    path = setting.result(trial)
    try:
        facts = read_object(path)
        report = read_object(open_run(setting.run(trial)).file("report.json"))
    except (OSError, ChainruleError):
        return None
    known = facts.get("identity") == identity(trial, setting)
    return {**facts, "report": report} if known and path.with_suffix(".safetensors").exists() else None


def _run_process(trial: Trial, setting: Setting) -> str | None:
    """Runs a trial in a process; returns why it failed, or None."""
    result = setting.result(trial)
    result.unlink(missing_ok=True)
    task = {"recipe": trial.recipe.model_dump(mode="json"), "source": asdict(setting.source),
            "run": str(setting.run(trial)), "result": str(result), "identity": identity(trial, setting),
            "prompts": setting.prompts, "passages": setting.passages}
    path = result.with_suffix(".task.json")
    write(path, task)
    with result.with_suffix(".log").open("a", encoding="utf-8") as journal:
        process = subprocess.Popen([sys.executable, "-m", "chainrule.experiments.trial", str(path)], env=_environment(),
                                   stdout=subprocess.PIPE, stderr=journal, stdin=subprocess.DEVNULL, text=True,
                                   pass_fds=[setting.lock], start_new_session=True)
        try:
            failure = _follow(process, setting)
            code = process.wait()
        except BaseException as error:  # Ctrl-C reaches only this process, which passes it on
            _stop(process, signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
            raise
    return None if code == 0 else failure or _exit_message(code, result.with_suffix(".log"))


def _environment() -> dict[str, str]:
    """So that the process imports this package, and its OpenMP threads wait as those of the command line do."""
    here = str(Path(chainrule.__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    return {"GOMP_SPINCOUNT": "3000", **os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _follow(process: subprocess.Popen[str], setting: Setting) -> str | None:
    """Passes on the progress of a trial; returns its failure message, if it sent one."""
    assert process.stdout is not None
    for line in process.stdout:
        facts = json.loads(line)
        if "failed" in facts:
            return str(facts["failed"])
        if "progress" in facts:
            setting.progress.came(facts, spent(facts, setting.budget))
        elif "stage" in facts:
            setting.progress.measuring()
    return None


def _stop(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Stops the process and waits until it has saved a checkpoint; a second Ctrl-C kills it."""
    process.send_signal(number)
    try:
        process.wait(PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _exit_message(code: int, journal: Path) -> str:
    """One line about a process that ended without a message."""
    if code == -signal.SIGKILL:
        return "killed (signal 9), usually because memory ran out. Try a smaller model or batch."
    if code < 0:
        return f"ended by signal {-code} ({signal.Signals(-code).name})."
    lines = [line for line in journal.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return f"exit code {code}: {lines[-1][:300] if lines else 'no message'} (see trials/{journal.name})"
