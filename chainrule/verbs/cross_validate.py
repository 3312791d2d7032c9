"""`chainrule.cross_validate`: every example is held out once, and the mean over the folds says how good a recipe is."""

from __future__ import annotations

import json
import logging
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError, OptionError
from chainrule.evaluation.options import Measuring
from chainrule.jobs import learns_from_validation
from chainrule.recipe.registry import build, find
from chainrule.runs import load
from chainrule.starting import resolved
from chainrule.storage import check_target
from chainrule.storage.json_files import read_object
from chainrule.storage.json_text import json_text
from chainrule.verbs.train import finish, prepared

FIGURES = "figures.json"  # in the folder of a finished fold
log = logging.getLogger("chainrule")


def cross_validate(recipe: str | Path, data: Any, out: str | Path, *, folds: int = 10, target: Any = None,
                   overrides: Sequence[str] = (), force: bool = False, show: Any = None) -> dict[str, Any]:
    """Trains on all folds but one, measures on that one, for each; then trains on everything and saves the run.

    The report has the mean of each figure over the folds and its standard error (Kohavi 1995, "A study of
    cross-validation and bootstrap"). A recipe that stops by validation gets a tenth of each training part for it. If it
    is interrupted, the same command continues with the folds that are left.
    """
    if folds < 2:
        raise OptionError("--folds", folds, "at least 2")
    found, start = resolved(recipe, overrides, None)
    task, where = build("tasks", found.task), _folder(Path(out))
    family: Any = find("families", found.family)
    check_target(out, replace=force)
    corpus = task.open(data, found, target)
    identity = {"recipe": found.model_dump(mode="json"), "data": corpus.fingerprint(), "folds": folds}
    measured: list[dict[str, float]] = []
    if force:
        shutil.rmtree(where, ignore_errors=True)
    for k in range(folds):
        place = where / f"fold-{k + 1}"
        figures = _finished(place, identity)
        if figures is None:
            rest, held = task.fold(corpus, k, folds, found.split.seed)
            train, valid = _parts(task, found, rest)
            job = prepared(found, train, place / "run", valid=valid, force=True, show=show, start=start)
            finish(job, family.train(job), place / "run", force=True, measure=False)
            figures = _measured(task, place, held, identity)
        measured.append(figures)
        log.info(f"fold {k + 1} of {folds}: {_said(figures)}")
    train, valid = _parts(task, found, corpus)
    job = prepared(found, train, out, valid=valid, force=force, show=show, start=start)
    trained = family.train(job)
    summary = {"count": folds, **_summary(measured)}
    report = finish(job, replace(trained, report={**trained.report, "folds": summary}), out, force=force, measure=False)
    shutil.rmtree(where, ignore_errors=True)
    return report


def _folder(out: Path) -> Path:
    """Beside the run: what is finished so far."""
    return out.absolute().with_name(f".{out.absolute().name}.folds")


def _parts(task: Any, recipe: Any, corpus: Any) -> tuple[Any, Any]:
    """What is trained on; and what is validated on, where the recipe learns from that."""
    return task.split(corpus, 0.1, recipe.split.seed + 1) if learns_from_validation(recipe) else (corpus, None)


def _measured(task: Any, place: Path, held: Any, identity: Mapping[str, Any]) -> dict[str, float]:
    found = task.evaluate(load(place / "run"), held, Measuring(bootstrap=0, characters=False))
    figures = {name: float(value) for name, value in found.items() if isinstance(value, float)}
    (place / FIGURES).write_text(json_text({"identity": identity, "figures": figures}), encoding="utf-8")
    return figures


def _finished(place: Path, identity: Mapping[str, Any]) -> dict[str, float] | None:
    if not (place / FIGURES).is_file():
        return None
    try:
        found = read_object(place / FIGURES)
    except ChainruleError:
        return None
    return found["figures"] if found.get("identity") == json.loads(json_text(identity)) else None


def _summary(measured: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Of each figure that all folds have: its mean, its standard error, and those of the folds."""
    names = [name for name in measured[0] if all(name in each for each in measured)]
    return {name: _mean([each[name] for each in measured]) for name in names}


def _mean(values: Sequence[float]) -> dict[str, Any]:
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    return {"mean": mean, "standard_error": error, "each": list(values)}


def _said(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in list(figures.items())[:3])
