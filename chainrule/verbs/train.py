"""`chainrule.train`: a recipe and a text become a run folder, whatever the family."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import ChainruleError, UsageError
from chainrule.evaluation.options import Measuring
from chainrule.evaluation.sound import unsound
from chainrule.jobs import Job, Trained, existing_parent
from chainrule.progress import notebook_progress
from chainrule.protocols import LanguageModel
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import build, find
from chainrule.runs import LoadedRun, save_run
from chainrule.starting import Start, resolved
from chainrule.storage import check_target
from chainrule.storage.environment import peak_memory

if TYPE_CHECKING:
    from chainrule.text.corpora import Corpus

log = logging.getLogger("chainrule")


def train(recipe: str | Path | Recipe, data: Any, out: str | Path, *, valid: Any = None, target: Any = None,
          valid_target: Any = None, overrides: Sequence[str] = (),
          force: bool = False, show: Callable[[Mapping[str, Any]], None] | None = None,
          start_from: str | Path | None = None) -> dict[str, Any]:
    """Makes a run folder from a recipe and a text; returns its report.

    `overrides` are `path=value` as on the command line, e.g. `["model.order=3", "tokenizer.name=bytes"]`. `data` and
    `valid` are paths, globs, folders or built-in corpora; `target` and `valid_target` name what belongs to them, such
    as translations. `show` is called with the progress of training; a notebook shows it by itself. With `start_from`
    training continues a finished run, whose tokenizer it keeps; where `recipe` is a run folder, it continues that.
    """
    words = [overrides] if isinstance(overrides, str) else overrides
    found, start = resolved(recipe, words, start_from)
    family: Any = find("families", found.family)
    with notebook_progress(show) as shown:
        job = prepared(found, data, out, valid=valid, targets=(target, valid_target), force=force, show=shown,
                       start=start)
        return finish(job, family.train(job), out, force=force)


def prepared(recipe: Recipe, data: Any, out: str | Path, *, valid: Any = None,
             targets: tuple[Any, Any] = (None, None), force: bool = False,
             show: Callable[[Mapping[str, Any]], None] | None = None, start: Start | None = None) -> Job:
    """What the recipe's family trains on, after a look at what may be missing; `finish` measures and saves."""
    family: Any = find("families", recipe.family)
    family.ready()
    check_target(out, replace=force)
    corpus, held_out = _opened(recipe, data, valid, targets)
    if recipe.text.reverse_complement and corpus is not None:
        from chainrule.text.corpora.strands import with_both_strands

        corpus = with_both_strands(corpus)
    return Job(recipe, corpus, held_out, existing_parent(Path(out)), out=Path(out), force=force, show=show, start=start)


def finish(job: Job, trained: Trained, out: str | Path, *, force: bool, measure: bool = True) -> dict[str, Any]:
    """Measures what a family has trained on the validation text, unless `measure` is False, and saves it."""
    data = {"train": job.corpus and job.corpus.fingerprint()[:16], "valid": job.valid and job.valid.fingerprint()[:16]}
    report = {"family": job.recipe.family, **trained.report}
    if job.start is not None:
        report["start_from"] = {"run": str(job.start.path), "sha256": job.start.sha256}
    if not trained.leads:
        return report
    family: Any = find("families", job.recipe.family)
    if problem := unsound(trained.model, trained.tokenizer, family.sums):
        raise ChainruleError(f"the trained model is broken: {problem}. Nothing was saved. Try a lower learning rate, "
                             "or other options.")
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


def _opened(recipe: Recipe, data: Any, valid: Any, targets: tuple[Any, Any]) -> tuple[Any, Any]:
    """What is trained on and what is validated on, as the task reads it."""
    from chainrule.text.corpora import Corpus

    task = build("tasks", recipe.task)
    corpus = task.open(data, recipe, targets[0])
    if isinstance(corpus, Corpus) and not _is_open(data):
        _hint_at_spaces(recipe, corpus)
    if valid is not None and recipe.split.valid and not _is_open(valid):
        raise UsageError("--valid gives the validation text, so split.valid must be 0. Give one of the two.")
    if valid is None and targets[1] is not None:
        raise UsageError(f"--valid-target = {targets[1]} belongs to --valid, which is not given.")
    if valid is not None:
        return corpus, task.open(valid, recipe, targets[1])
    if not recipe.split.valid and hasattr(task, "named_parts"):  # the data may say itself what is for validation
        return task.named_parts(corpus)
    if not recipe.split.valid or _is_open(data):  # it was split before
        return corpus, None
    return task.split(corpus, recipe.split.valid, recipe.split.seed)


def _is_open(data: Any) -> bool:
    """Whether it was opened before, by `compare` for example; a path was not."""
    return hasattr(data, "fingerprint")


def _hint_at_spaces(recipe: Recipe, corpus: Corpus) -> None:
    """A line where the tokenizer splits at spaces, and the text has none between its words."""
    from chainrule.text.scripts import spaces_missed

    if recipe.tokenizer is not None and (missed := spaces_missed(recipe.tokenizer["name"], corpus)):
        other = "tokenizer=characters_and_bytes, or " if build("tasks", recipe.task).ability is LanguageModel else ""
        log.info(f"{missed} Try {other}a text with spaces between its words.")


def _measured(job: Job, trained: Trained) -> dict[str, Any]:
    """The validation text by the measures of the task."""
    recipe = trained.recipe or job.recipe
    run = LoadedRun(Path(), recipe, trained.tokenizer, trained.model, trained.report)
    with job.timed("validating"):
        return build("tasks", recipe.task).evaluate(run, job.valid, Measuring(characters=False))
