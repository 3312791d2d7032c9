"""Contract of tasks and modalities: a small training on small data of their own, and a run that can be used."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.contests import Contested
from chainrule.contracts.contract import check, require
from chainrule.protocols import LanguageModel
from chainrule.recipe.recipe import make_recipe
from chainrule.recipe.registry import build, find
from chainrule.runs import load, task_of
from chainrule.task_protocols import Small
from chainrule.verbs.evaluate import evaluate
from chainrule.verbs.train import train

TRAINING = {"budget": {"steps": 3}, "batch": 4, "device": "cpu"}
MODEL = {"width": 16, "context": 16}


def require_use(small: Small, task: dict[str, Any], folder: Path, ability: type) -> Any:
    """Three steps, a run that opens and gives the same figures as before it was saved."""
    said = {"family": "neural", "tokenizer": "bytes", "training": TRAINING, "task": task, **small.recipe}
    recipe = make_recipe({**said, "model": {**MODEL, **small.recipe.get("model", {})}})
    report = train(recipe, small.data, folder / "run", valid=small.data, target=small.target,
                   valid_target=small.target)
    run = load(folder / "run")
    found = evaluate(run, small.data, target=small.target, bootstrap=0)
    wrong = {name: value for name, value in found.items() if isinstance(value, float) and not np.isfinite(value)}
    require(not wrong, f"measures that are not numbers: {wrong}")
    require(isinstance(run.model, ability), "the model lacks the ability that the task names")
    before = {name: value for name, value in report["valid"].items() if isinstance(value, float)}
    after = {name: found[name] for name in before if name in found}
    require(all(np.isclose(after[name], before[name], atol=1e-5) for name in after),
            f"the run opened again measures {after}, expected {before}")
    return run


@check("tasks")
def task_can_be_learned(kind: str, name: str) -> None:
    """A small network learns it for a few steps, and the run can be opened and measured."""
    task: Any = find(kind, name)
    if not hasattr(task, "loss"):
        return  # only its own families learn it
    with tempfile.TemporaryDirectory() as folder:
        small = build(kind, name).small(Path(folder))
        run = require_use(small, {"name": name}, Path(folder), task.ability)
        if task.ability is not LanguageModel:  # those are compared by the text itself
            require_contest(run, small)


def require_contest(run: Any, small: Small) -> None:
    """`compare` can rank it: what the run and each simple rule did on the same units gives a number."""
    task: Any = task_of(run)
    require(isinstance(task, Contested), "compare cannot rank its models: it has no `contest`")
    data = [str(small.data)]
    target = None if small.target is None else [str(small.target)]
    contest = task.contest(run.recipe, data, data, fraction=0.1, seed=0, targets=(target, target))
    answers = {"the run": contest.answers(run), **contest.baselines()}
    units = {len(each.table) for each in answers.values()}
    require(len(units) == 1, f"{units} {contest.units} were answered, expected the same number by all")
    for name, each in answers.items():
        value = contest.measure.value(each.table)
        low, high = contest.measure.bounds
        require(low <= value <= high, f"{contest.measure.label} of {name} = {value}, expected {low} to {high}")


@check("inputs/modalities")
def modality_can_be_classified(kind: str, name: str) -> None:
    """A small network learns to classify it for a few steps, and the run can be opened and measured."""
    task: Any = find("tasks", "classification")
    with tempfile.TemporaryDirectory() as folder:
        small = build(kind, name).small(Path(folder))
        require_use(small, {"name": "classification", "inputs": name}, Path(folder), task.ability)
