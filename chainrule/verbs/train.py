"""`chainrule.train`: a recipe and a text become a run folder, whatever the family."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import UsageError
from chainrule.evaluation.options import Measuring
from chainrule.jobs import Job, Trained, existing_parent
from chainrule.progress import notebook_progress
from chainrule.recipe.recipe import Recipe, load_recipe
from chainrule.recipe.registry import build, find
from chainrule.runs import LoadedRun, save_run
from chainrule.storage import check_target
from chainrule.storage.environment import peak_memory

if TYPE_CHECKING:
    from chainrule.text.corpora import Corpus


def train(recipe: str | Path | Recipe, data: Any, out: str | Path, *, valid: Any = None, overrides: Sequence[str] = (),
          force: bool = False, show: Callable[[Mapping[str, Any]], None] | None = None, measure: bool = True
          ) -> dict[str, Any]:
    """Makes a run folder from a recipe and a text; returns its report.

    `overrides` are `path=value` as on the command line, e.g. `["model.order=3", "tokenizer.name=bytes"]`. `data` and
    `valid` are paths, globs, folders or built-in corpora. `show` is called with the progress of training; a notebook
    shows it by itself. With `measure=False` the finished model is not measured on
    the validation text.
    """
    words = [overrides] if isinstance(overrides, str) else overrides
    resolved = recipe if isinstance(recipe, Recipe) else load_recipe(recipe, words)
    family: Any = find("families", resolved.family)
    family.ready()
    check_target(out, replace=force)
    corpus, held_out = _texts(resolved, data, valid)
    with notebook_progress(show) as shown:
        job = Job(resolved, corpus, held_out, existing_parent(Path(out)), out=Path(out), force=force, show=shown)
        return finish(job, family.train(job), out, force=force, measure=measure)


def finish(job: Job, trained: Trained, out: str | Path, *, force: bool, measure: bool = True) -> dict[str, Any]:
    """Measures and saves what a family has trained; returns the report."""
    data = {"train": job.corpus and job.corpus.fingerprint()[:16], "valid": job.valid and job.valid.fingerprint()[:16]}
    report = {"family": job.recipe.family, **trained.report}
    if not trained.leads:
        return report
    if measure and job.valid is not None and "valid" not in report:  # a family may have measured in its own way
        report["valid"] = _measured(job, trained)
    report.setdefault("peak_memory", peak_memory())
    report["data"] = {name: digest for name, digest in data.items() if digest}
    report["seconds"] = {step: round(s, 3) for step, s in job.seconds.items()}
    report["seconds"]["total"] = round(time.perf_counter() - job.began, 3)
    save_run(out, trained.write, recipe=trained.recipe or job.recipe, tokenizer=trained.tokenizer, report=report,
             metrics=trained.metrics, replace=force)
    trained.saved()
    return report


def _texts(recipe: Recipe, data: Any, valid: Any) -> tuple[Corpus, Corpus | None]:
    """What is trained on and what is validated on."""
    from chainrule.text.corpora import Corpus, open_corpus

    corpus = open_corpus(data, recipe.text)
    if valid is not None and recipe.split.valid and not isinstance(valid, Corpus):
        raise UsageError("--valid gives the validation text, so split.valid must be 0. Give one of the two.")
    if valid is not None:
        return corpus, open_corpus(valid, recipe.text)
    if not recipe.split.valid or isinstance(data, Corpus):  # a corpus was split before
        return corpus, None
    from chainrule.text.split import split

    return split(corpus, recipe.split.valid, recipe.split.seed)


def _measured(job: Job, trained: Trained) -> dict[str, Any]:
    """The validation text by the measures of the task."""
    recipe = trained.recipe or job.recipe
    run = LoadedRun(Path(), recipe, trained.tokenizer, trained.model, trained.report)
    with job.timed("validating"):
        return build("tasks", recipe.task).evaluate(run, job.valid, Measuring(characters=False))
