"""What families that learn in steps share: a recipe's `training` section, the plan, and a run made from a training."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chainrule.jobs import Job, Trained
from chainrule.protocols import LanguageModel
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.registry import build
from chainrule.recipe.schema import OneOf, PartOf
from chainrule.text.encoded import Encoded, encode, fit_and_encode

if TYPE_CHECKING:
    from chainrule.tasks.language import Text, Vocabulary
    from chainrule.training.loop import Fitted
    from chainrule.training.plan import Plan
    from chainrule.training.telling import Telling

WEIGHTS, TIMINGS, BOARD = "model.safetensors", "timings.jsonl", "tensorboard"
SAMPLE = 60  # tokens written at each evaluation
log = logging.getLogger("chainrule")
frozen = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Budget(BaseModel):
    """Exactly one of these."""

    model_config = frozen

    steps: int | None = None
    epochs: float | None = None
    tokens: float | None = None
    flops: float | None = None
    seconds: float | None = None

    @model_validator(mode="after")
    def one_is_given(self) -> Budget:
        given = [name for name, value in self if value is not None]
        if len(given) != 1 or getattr(self, given[0]) <= 0:
            raise ValueError("exactly one of steps, epochs, tokens, flops and seconds, more than 0")
        return self


class StepwiseTraining(BaseModel):
    """What every `training` section may say: a `Plan`; which optimizers and precisions there are, the family says."""

    model_config = frozen

    budget: Annotated[Budget, OneOf()] = Budget(epochs=1)
    batch: int = Field(default=32, ge=1)
    accumulation: int = Field(default=1, ge=1)
    optimizer: dict[str, Any] = {"name": "adamw"}
    schedule: Annotated[dict[str, Any], PartOf("training/schedules")] = {"name": "cosine"}
    clip: float | None = Field(default=1.0, gt=0)
    ema: float | None = Field(default=None, gt=0, lt=1)
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    reading: Literal["auto", "windows", "contiguous"] = "auto"
    evaluate_every: int | None = Field(default=None, ge=1)
    evaluate_tokens: int = Field(default=1 << 18, ge=1)
    patience: int | None = Field(default=None, ge=1)
    log_every: int = Field(default=10, ge=1)
    keep: int = Field(default=2, ge=0)
    save_every: float = Field(default=60.0, ge=0)


def plan_of(recipe: Any) -> Plan:
    """The plan of training that a recipe describes; on what device it is carried out is not of the plan."""
    from chainrule.training.plan import Budget as PlainBudget
    from chainrule.training.plan import Plan

    given = {name: value for name, value in recipe.training if name not in ("budget", "device")}
    return Plan(budget=PlainBudget(**dict(recipe.training.budget)), seed=recipe.seed, **given)


@dataclass(frozen=True)
class Lesson:
    """What is learned from, where the unfinished state lies, and who listens."""

    text: Text
    valid: Text | None
    vocabulary: Vocabulary
    workspace: Path
    telling: Telling


def trained(job: Job, learn: Callable[[Lesson], tuple[Any, Fitted]],
            language_model: Callable[[Any, Any], LanguageModel[Any]], save: Callable[[Path, Any], None]) -> Trained:
    """Reads the text, lets a stack learn, and says how it is saved: its weights by `save`, and what was measured."""
    from chainrule.tasks.language import Vocabulary

    recipe: Any = job.recipe
    assert job.corpus is not None
    with job.timed("reading"):
        tokenizer, encoded = fit_and_encode(job.corpus, build("text/tokenizers", recipe.tokenizer), recipe.text)
        held_out = None if job.valid is None else _text(encode(job.valid, tokenizer, recipe.text))
    text, vocabulary = _text(encoded), Vocabulary(tokenizer.vocabulary_size, tokenizer.start, tokenizer.end)
    lesson = Lesson(text, held_out, vocabulary, _workspace(job), _telling(job, tokenizer, language_model))
    with job.timed("training"), recipe_paths_in_errors(recipe):
        stack, fitted = learn(lesson)
    job.seconds["training"] = fitted.seconds  # of all sessions; not what was prepared before the first step

    def write(folder: Path) -> None:
        save(folder / WEIGHTS, stack)
        shutil.copyfile(lesson.workspace / TIMINGS, folder / TIMINGS)
        if (lesson.workspace / BOARD).is_dir():
            shutil.copytree(lesson.workspace / BOARD, folder / BOARD)

    return Trained(tokenizer, language_model(stack, tokenizer), write, _report(fitted, vocabulary.size, len(text.ids)),
                   fitted.metrics, saved=lambda: shutil.rmtree(lesson.workspace))


def _text(encoded: Encoded) -> Text:
    from chainrule.tasks.language import Text

    return Text(encoded.ids, int(encoded.bytes.sum()))


def _workspace(job: Job) -> Path:
    if job.out is None:
        return Path(tempfile.mkdtemp(prefix=f".{job.recipe.family}.training-", dir=job.folder))
    target = job.out.absolute()
    return target.with_name(f".{target.name}.training")


def _telling(job: Job, tokenizer: Any, language_model: Callable[[Any, Any], LanguageModel[Any]]) -> Telling:
    """The identity is what must not change between the beginning and the end of a training."""
    from chainrule.generation.generate import generate
    from chainrule.training.telling import Telling

    assert job.corpus is not None
    identity = {**job.recipe.model_dump(mode="json"), "data": job.corpus.fingerprint()[:16],
                "valid data": job.valid and job.valid.fingerprint()[:16], "tokenizer.json": tokenizer.digest()[:16]}
    return Telling(log.info, job.show, lambda stack: [each.text for each in generate(
        language_model(stack, tokenizer), tokenizer, max_tokens=SAMPLE)], identity, job.force)


def _report(fitted: Fitted, vocabulary_size: int, text_tokens: int) -> dict[str, Any]:
    course = fitted.course
    found = {"vocabulary": vocabulary_size, "parameters": fitted.parameters, "steps": course.step,
             "epochs": round(course.tokens / text_tokens, 3), "tokens": course.tokens, "flops": fitted.flops,
             "skipped_steps": course.skipped, "training": fitted.training, "kept": fitted.kept,
             "tokens_per_second": round(fitted.tokens_per_second), "peak_memory": fitted.peak_memory,
             "advice": fitted.advice}
    for name, row in (("best", course.best), ("last", course.last)):
        if "loss" in row:
            found[name] = {key: value for key, value in row.items() if key != "number"}
    return found
