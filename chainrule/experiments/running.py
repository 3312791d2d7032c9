"""Trials, each a recipe with a seed: finished ones are not repeated, an engine runs the rest, a failure is one row."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chainrule
from chainrule.errors import ChainruleError
from chainrule.experiments.budget import has_budget
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.engines._engine import Engine, Work
from chainrule.experiments.holdout import Source
from chainrule.experiments.measuring import write
from chainrule.experiments.progress import LogLines, TrialProgress, forecast
from chainrule.recipe.recipe import Recipe, make_recipe
from chainrule.storage import open_run
from chainrule.storage.json_files import read_object
from chainrule.training.plan import Budget

if TYPE_CHECKING:
    from chainrule.experiments.planning import Comparison

log = logging.getLogger("chainrule")


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
    lock: int  # a file that stays locked as long as a trial lives
    prompts: tuple[str, ...] = ()
    passages: tuple[tuple[int, int], ...] = ()
    progress: TrialProgress = field(default_factory=LogLines)
    search: bool = False  # whether trials only look for a loss in validation, and measure nothing that is held out

    def run(self, trial: Trial) -> Path:
        return self.out / "runs" / trial.folder

    def result(self, trial: Trial) -> Path:
        return self.out / "trials" / f"{trial.folder}.json"


def setting_of(comparison: Comparison, out: Path, lock: int, progress: TrialProgress | None) -> Setting:
    """What the trials of a comparison share."""
    fingerprints = comparison.train.fingerprint(), comparison.held_out.fingerprint()
    return Setting(out, comparison.source, fingerprints, comparison.budget, lock, progress=progress or LogLines())


def trials_by_name(comparison: Comparison) -> dict[str, list[Trial]]:
    """The trials of each contestant that can be trained; one line about each that cannot."""
    for each in comparison.entries:
        if each.problem:
            log.info(f"{each.name}: cannot be trained: {each.problem}")
    return {each.name: trials_of(each, comparison.seeds) for each in comparison.entries if each.recipe}


def trials_of(each: Contestant, seeds: Sequence[int]) -> list[Trial]:
    """One trial for each seed; counting models do not depend on the seed, so they get one."""
    assert each.recipe is not None
    seeds = seeds if hasattr(each.recipe, "training") else seeds[:1]
    several = len(seeds) > 1
    return [Trial(f"{each.name}, seed {seed}" if several else each.name,
                  f"{each.folder}-seed{seed}" if several else each.folder, seed,
                  make_recipe({**each.recipe.model_dump(mode="json"), "seed": seed})) for seed in seeds]


def outcomes_of(trials: Mapping[str, Sequence[Trial]], setting: Setting, engine: Engine, held_out: str
                ) -> dict[str, list[dict[str, Any]]]:
    """The facts of every trial, or `{"failed": why}`; those that have not finished before are run."""
    whole = [trial for own in trials.values() for trial in own]
    known: dict[str, dict[str, Any]] = {}
    left: dict[str, tuple[str, Trial]] = {}
    for number, trial in enumerate(whole, start=1):
        label = f"[{number}/{len(whole)}] {trial.name}"
        if (facts := finished(trial, setting)) is not None:
            known[trial.folder] = facts
            setting.progress.already(label)
        else:
            left[trial.folder] = label, trial
    if left:
        _log_forecast([trial for _, trial in left.values()], setting, held_out)
        known |= _run(left, setting, engine)
    return {name: [known[trial.folder] for trial in own] for name, own in trials.items()}


def _run(left: Mapping[str, tuple[str, Trial]], setting: Setting, engine: Engine) -> dict[str, dict[str, Any]]:
    works = [Work(label, folder, _task(trial, setting), setting.budget) for folder, (label, trial) in left.items()]
    try:
        failures = engine.run(works, setting.progress, setting.lock)
    except KeyboardInterrupt:
        log.info("stopped; the same command continues from here.")
        raise
    return {folder: {"failed": failures[folder]} if failures[folder] else
            finished(trial, setting) or {"failed": "it wrote no result."} for folder, (_, trial) in left.items()}


def identity(trial: Trial, setting: Setting) -> str:
    """A hash that identifies a finished trial: version, resolved recipe and text."""
    facts = [chainrule.__version__, trial.recipe.model_dump(mode="json"), setting.fingerprints,
             *(["search"] if setting.search else [])]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def finished(trial: Trial, setting: Setting) -> dict[str, Any] | None:
    """The facts of a finished trial; None if it has not finished."""
    path = setting.result(trial)
    try:
        facts = read_object(path)
        report = read_object(open_run(setting.run(trial)).file("report.json"))
    except (OSError, ChainruleError):
        return None
    known = facts.get("identity") == identity(trial, setting)
    whole = setting.search or path.with_suffix(".safetensors").exists()
    return {**facts, "report": report} if known and whole else None


def _task(trial: Trial, setting: Setting) -> Path:
    """The file that tells a process what to train and measure."""
    result = setting.result(trial)
    result.unlink(missing_ok=True)
    path = result.with_suffix(".task.json")
    write(path, {"recipe": trial.recipe.model_dump(mode="json"), "source": asdict(setting.source),
                 "run": str(setting.run(trial)), "result": str(result), "identity": identity(trial, setting),
                 "prompts": setting.prompts, "passages": setting.passages, "search": setting.search})
    return path


def _log_forecast(left: Sequence[Trial], setting: Setting, held_out: str) -> None:
    """Says how long everything will take."""
    free = [trial.name for trial in left if not has_budget(trial.recipe, setting.budget)]
    log.info(forecast(len(left) - len(free), free, setting.budget, held_out))
