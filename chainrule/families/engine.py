"""The engine family: sentences of sublayers on the project's own automatic differentiation, without torch."""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from chainrule.jobs import Job, Trained
from chainrule.protocols import LanguageModel, Tokenizer
from chainrule.recipe import Recipe
from chainrule.registry import build, part
from chainrule.schema import OneOf, PartOf
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.typed import as_typed

WEIGHTS, TIMINGS = "model.safetensors", "timings.jsonl"
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


@part
class Engine:
    """Small neural language models on the project's own automatic differentiation, in NumPy alone."""

    class Options(BaseModel):
        """What a recipe's `model` section may say: an `EngineShape`."""

        model_config = frozen

        pattern: str = "(sf)*4"
        width: int = Field(default=128, ge=1)
        context: int = Field(default=64, ge=1)
        heads: int = Field(default=4, ge=1)
        recurrence: Literal["elman", "ugrnn", "gru", "lstm"] = "lstm"
        gain: float = Field(default=1.0, gt=0)
        forget: float = 1.0
        window: int = Field(default=5, ge=1)
        feedforward: Literal["swiglu", "gelu", "gelu_tanh", "relu", "sigmoid", "silu", "tanh"] = "swiglu"
        norm: Literal["rms", "layer", "none"] = "rms"
        wiring: Literal["pre_norm", "residual", "plain"] = "pre_norm"
        position: Literal["rotary", "learned", "none"] = "rotary"
        head: Literal["tied", "untied"] = "tied"
        deviation: float = Field(default=0.1, gt=0)
        dropout: float = Field(default=0.0, ge=0, lt=1)

    class Training(BaseModel):
        """What a recipe's `training` section may say: a `Plan`, and in which numbers it is carried out."""

        model_config = frozen

        budget: Annotated[Budget, OneOf()] = Budget(epochs=1)
        batch: int = Field(default=16, ge=1)
        optimizer: Annotated[dict[str, Any], PartOf("engine/optimizers")] = {"name": "adamw"}
        schedule: Annotated[dict[str, Any], PartOf("training/schedules")] = {"name": "cosine"}
        clip: float | None = Field(default=1.0, gt=0)
        reading: Literal["auto", "windows", "contiguous"] = "auto"
        precision: Literal["float32", "float64"] = "float32"
        evaluate_every: int | None = Field(default=None, ge=1)
        evaluate_tokens: int = Field(default=1 << 16, ge=1)
        patience: int | None = Field(default=None, ge=1)
        log_every: int = Field(default=10, ge=1)
        keep: int = Field(default=2, ge=0)
        save_every: float = Field(default=60.0, ge=0)

    no_cost = ("what the engine takes is not estimated before training; `chainrule train` reports it. The torch model "
               "of the same shape has an estimate.")

    @staticmethod
    def train(job: Job) -> Trained:
        from chainrule.training.engine_learner import EngineLearner
        from chainrule.training.loop import fit

        recipe: Any = job.recipe
        assert job.corpus is not None
        with job.timed("reading"):
            tokenizer, encoded = fit_and_encode(job.corpus, build("text/tokenizers", recipe.tokenizer), recipe.text)
            held_out = None if job.valid is None else encode(job.valid, tokenizer, recipe.text)
        workspace, telling = _workspace(job), _telling(job, tokenizer)
        with job.timed("training"), as_typed(recipe):
            stack, plan = new_stack(recipe, tokenizer.vocabulary_size), plan_of(recipe)
            task = _task(stack, plan, encoded, held_out, tokenizer, telling)
            fitted = fit(EngineLearner(stack, task, plan, telling.say), workspace, telling)
        job.seconds["training"] = fitted.seconds
        return Trained(tokenizer, language_model(stack, tokenizer), _writer(stack, workspace),
                       _report(fitted, tokenizer, len(encoded.ids)), fitted.metrics,
                       saved=lambda: shutil.rmtree(workspace))

    @staticmethod
    def load(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> LanguageModel[Any]:
        from chainrule.models.engine_stack import imported
        from chainrule.storage.tensors import open_tensors

        stack = new_stack(recipe, tokenizer.vocabulary_size)
        imported(stack, open_tensors(folder / WEIGHTS))
        return language_model(stack, tokenizer)


def new_stack(recipe: Any, vocabulary_size: int) -> Any:
    """A stack with weights that depend on the seed alone."""
    from chainrule.models.engine_stack import EngineShape, EngineStack

    stack = EngineStack(EngineShape(**dict(recipe.model)), vocabulary_size, np.random.default_rng(recipe.seed))
    return stack.to(recipe.training.precision)


def language_model(stack: Any, tokenizer: Any) -> LanguageModel[Any]:
    """The stack as every family's model."""
    from chainrule.models.engine_language import EngineLanguageModel

    return EngineLanguageModel(stack, tokenizer.start)


def plan_of(recipe: Any) -> Any:
    """The plan of training that a recipe describes."""
    from chainrule.training.plan import Budget as PlainBudget
    from chainrule.training.plan import Plan

    given = {name: value for name, value in recipe.training if name not in ("budget", "precision")}
    return Plan(budget=PlainBudget(**dict(recipe.training.budget)), seed=recipe.seed, **given)


def _task(stack: Any, plan: Any, encoded: Any, held_out: Any, tokenizer: Any, telling: Any) -> Any:
    from chainrule.tasks.engine_language import EngineLanguage
    from chainrule.tasks.language import Text, Vocabulary
    from chainrule.training.reading import language_task

    text, valid = (each and Text(each.ids, int(each.bytes.sum())) for each in (encoded, held_out))
    vocabulary = Vocabulary(tokenizer.vocabulary_size, tokenizer.start, tokenizer.end)
    return language_task(EngineLanguage, stack, plan, text, valid, vocabulary, telling)


def _telling(job: Job, tokenizer: Any) -> Any:
    from chainrule.generation.generate import generate
    from chainrule.training.telling import Telling

    def samples(stack: Any) -> list[str]:
        found = generate(language_model(stack, tokenizer), tokenizer, max_tokens=SAMPLE)
        return [each.text for each in found]

    assert job.corpus is not None
    identity = {**job.recipe.model_dump(mode="json"), "data": job.corpus.fingerprint()[:16],
                "valid data": job.valid and job.valid.fingerprint()[:16], "tokenizer.json": tokenizer.digest()[:16]}
    return Telling(log.info, job.show, samples, identity, job.force)


def _workspace(job: Job) -> Path:
    if job.out is None:
        return Path(tempfile.mkdtemp(prefix=".engine.training-", dir=job.folder))
    target = job.out.absolute()
    return target.with_name(f".{target.name}.training")


def _writer(stack: Any, workspace: Path) -> Any:
    def write(folder: Path) -> None:
        from chainrule.models.engine_stack import exported
        from chainrule.storage.tensors import save_tensors

        save_tensors(folder / WEIGHTS, exported(stack))
        shutil.copyfile(workspace / TIMINGS, folder / TIMINGS)
    return write


def _report(fitted: Any, tokenizer: Any, text_tokens: int) -> dict[str, Any]:
    course = fitted.course
    found = {"vocabulary": tokenizer.vocabulary_size, "parameters": fitted.parameters, "steps": course.step,
             "epochs": round(course.tokens / text_tokens, 3), "tokens": course.tokens, "flops": fitted.flops,
             "skipped_steps": course.skipped, "training": fitted.training, "kept": fitted.kept,
             "tokens_per_second": round(fitted.tokens_per_second), "peak_memory": fitted.peak_memory,
             "advice": fitted.advice}
    for name, row in (("best", course.best), ("last", course.last)):
        if "loss" in row:
            found[name] = {key: value for key, value in row.items() if key != "number"}
    return found
