"""`chainrule.train`: a recipe and a text become a run folder, whatever the family."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.jobs import Job, Trained, existing_parent

if TYPE_CHECKING:
    from chainrule.recipe.recipe import Recipe
    from chainrule.text.corpora import Corpus


def train(recipe: str | Path, data: str | Path | Sequence[str | Path], out: str | Path, *,
          valid: str | Path | Sequence[str | Path] | None = None, overrides: Sequence[str] = (),
          force: bool = False, show: Callable[[Mapping[str, Any]], None] | None = None) -> dict[str, Any]:
    """Makes a run folder from a recipe and a text; returns its report.

    `overrides` are `path=value` as on the command line, e.g. `["model.order=3", "tokenizer.name=bytes"]`.
    """
    from chainrule.recipe.recipe import load_recipe

    resolved = load_recipe(recipe, [overrides] if isinstance(overrides, str) else overrides)
    return train_recipe(resolved, data, out, valid=valid, force=force, show=show)


def train_recipe(recipe: Recipe, data: str | Path | Sequence[str | Path], out: str | Path, *,
                 valid: str | Path | Sequence[str | Path] | None = None, force: bool = False,
                 show: Callable[[Mapping[str, Any]], None] | None = None) -> dict[str, Any]:
    """The same from a resolved recipe."""
    from chainrule.recipe.registry import find
    from chainrule.storage import check_target

    family: Any = find("families", recipe.family)
    getattr(family, "ready", lambda: None)()
    check_target(out, replace=force)
    job = replace(_job(recipe, data, valid, Path(out)), out=Path(out), force=force, show=show)
    return finish(job, family.train(job), out, force=force)


def finish(job: Job, trained: Trained, out: str | Path, *, force: bool) -> dict[str, Any]:
    """Validates and saves what a family has trained; returns the report."""
    from chainrule.runs import save_run

    report = {"family": job.recipe.family, **trained.report}
    if job.valid is not None and "valid" not in report:  # a family may have measured in its own way
        report["valid"] = _validated(job, trained)
    report["seconds"] = {step: round(s, 3) for step, s in job.seconds.items()}
    report["seconds"]["total"] = round(time.perf_counter() - job.began, 3)
    save_run(out, trained.write, recipe=trained.recipe or job.recipe, tokenizer=trained.tokenizer, report=report,
             metrics=trained.metrics, replace=force)
    trained.saved()
    return report


def _job(recipe: Recipe, data: Any, valid: Any, out: Path) -> Job:
    from chainrule.errors import UsageError
    from chainrule.text.corpora import open_corpus

    corpus: Corpus = open_corpus(data, recipe.text)
    if valid is not None and recipe.split.valid:
        raise UsageError("--valid gives the validation text, so split.valid must be 0. Give one of the two.")
    held_out: Corpus | None = None if valid is None else open_corpus(valid, recipe.text)
    if recipe.split.valid:
        from chainrule.text.split import split

        corpus, held_out = split(corpus, recipe.split.valid, recipe.split.seed)
    return Job(recipe, corpus, held_out, existing_parent(out))


def _validated(job: Job, trained: Trained) -> dict[str, Any]:
    from chainrule.evaluation.evaluate import evaluate
    from chainrule.text.encoded import encode
    from chainrule.text.units import unit_of

    assert job.valid is not None
    with job.timed("validating"):
        text = (trained.recipe or job.recipe).text
        unit = unit_of(text, keeps_space=trained.tokenizer.keeps_space)
        return evaluate(trained.model, trained.tokenizer, encode(job.valid, trained.tokenizer, text), unit=unit)
