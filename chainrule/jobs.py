"""Training, whatever the family: read the recipe and the text, let the family work, save the run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.protocols import LanguageModel
    from chainrule.recipe import Recipe
    from chainrule.text.corpora import Corpus
    from chainrule.text.tokenizer import Tokenizer

log = logging.getLogger("chainrule")
steps = logging.getLogger("chainrule.steps")  # at level DEBUG: the name of each step as it begins


@dataclass(frozen=True)
class Job:
    """What a family trains on."""

    recipe: Recipe
    corpus: Corpus | None  # None where the family was given something else than text, such as counts
    valid: Corpus | None
    folder: Path  # where large temporary files may lie
    seconds: dict[str, float] = field(default_factory=dict)  # how long each step took, for the report
    began: float = field(default_factory=time.perf_counter)
    out: Path | None = None  # the run folder to be; a family that trains for long keeps its unfinished state beside it
    force: bool = False  # an unfinished state that does not fit may be thrown away
    show: Callable[[Mapping[str, Any]], None] | None = None  # is told how far training has come

    def timed(self, step: str) -> _Timer:
        """`with job.timed("counting"): …`"""
        return _Timer(self.seconds, step)


@dataclass(frozen=True)
class Trained:
    """What a family gives back; `write(folder)` adds the model's files to the run."""

    tokenizer: Tokenizer
    model: LanguageModel[Any]
    write: Callable[[Path], None]
    report: dict[str, Any]
    metrics: Iterable[Mapping[str, Any]] = ()
    recipe: Recipe | None = None  # where training settled what the recipe left open
    saved: Callable[[], None] = lambda: None  # called when the run is on the disk: unfinished state may go


def train(recipe: str | Path, data: str | Path | Sequence[str | Path], out: str | Path, *,
          valid: str | Path | Sequence[str | Path] | None = None, overrides: Sequence[str] = (),
          force: bool = False, show: Callable[[Mapping[str, Any]], None] | None = None) -> dict[str, Any]:
    """Makes a run folder from a recipe and a text; returns its report.

    `overrides` are `path=value` as on the command line, e.g. `["model.order=3", "tokenizer.name=bytes"]`.
    """
    from chainrule.recipe import load_recipe

    resolved = load_recipe(recipe, [overrides] if isinstance(overrides, str) else overrides)
    return train_recipe(resolved, data, out, valid=valid, force=force, show=show)


def train_recipe(recipe: Recipe, data: str | Path | Sequence[str | Path], out: str | Path, *,
                 valid: str | Path | Sequence[str | Path] | None = None, force: bool = False,
                 show: Callable[[Mapping[str, Any]], None] | None = None) -> dict[str, Any]:
    """The same from a resolved recipe."""
    from chainrule.registry import find
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


def existing_parent(out: Path) -> Path:
    """The nearest folder above a run that is there already: temporary files lie on the same disk."""
    parent = out.absolute().parent
    while not parent.is_dir():
        parent = parent.parent
    return parent


def _validated(job: Job, trained: Trained) -> dict[str, Any]:
    from chainrule.evaluation.evaluate import evaluate
    from chainrule.text.encoded import encode
    from chainrule.text.units import unit_of

    assert job.valid is not None
    with job.timed("validating"):
        text = (trained.recipe or job.recipe).text
        unit = unit_of(text, keeps_space=trained.tokenizer.keeps_space)
        return evaluate(trained.model, trained.tokenizer, encode(job.valid, trained.tokenizer, text), unit=unit)


class _Timer:
    def __init__(self, seconds: dict[str, float], step: str):
        self.seconds, self.step = seconds, step

    def __enter__(self) -> None:
        steps.debug(self.step)
        self.began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + time.perf_counter() - self.began
