"""The neural family: every sentence of sublayers, trained by one loop."""

from __future__ import annotations

import logging
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chainrule.errors import UsageError
from chainrule.families._room import check_room
from chainrule.jobs import Job, Trained
from chainrule.protocols import LanguageModel, Tokenizer
from chainrule.recipe import Recipe
from chainrule.registry import build, part
from chainrule.schema import OneOf, PartOf
from chainrule.text.encoded import Encoded, encode, fit_and_encode
from chainrule.typed import as_typed

if find_spec("torch") is None:
    raise UsageError("neural recipes need torch, which is not installed. Try: pip install 'chainrule[neural]'")

WEIGHTS, TIMINGS = "model.safetensors", "timings.jsonl"
MIXERS, FEEDFORWARDS = "parts/mixers", "parts/feedforwards"
LETTERS = {"s": "attention", "r": "lstm", "c": "gated_convolution", "w": "window", "x": "cross_attention",
           "f": "swiglu"}
SAMPLE = 60  # tokens written at each evaluation
Mixer = Annotated[dict[str, Any] | None, PartOf(MIXERS, optional=True)]
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
class Neural:
    """Neural language models: a sentence of sublayers such as (sf)*6, trained by gradient descent."""

    class Options(BaseModel):
        """What a recipe's `model` section may say: a `Shape`. Letters that the pattern lacks may be null."""

        model_config = frozen

        pattern: str = "(sf)*4"
        width: int = Field(default=128, ge=1)
        context: int = Field(default=128, ge=1)
        s: Mixer = None
        r: Mixer = None
        c: Mixer = None
        w: Mixer = None
        x: Mixer = None
        f: Annotated[dict[str, Any] | None, PartOf(FEEDFORWARDS, optional=True)] = None
        norm: Annotated[dict[str, Any], PartOf("parts/norms")] = {"name": "rms"}
        wiring: Annotated[dict[str, Any], PartOf("parts/wirings")] = {"name": "pre_norm"}
        position: Annotated[dict[str, Any], PartOf("parts/positions")] = {"name": "rotary"}
        embedding: Annotated[dict[str, Any], PartOf("parts/embeddings")] = {"name": "lookup"}
        head: Annotated[dict[str, Any], PartOf("parts/heads")] = {"name": "tied"}
        dropout: Annotated[dict[str, Any], PartOf("parts/dropouts")] = {"name": "independent"}

        @model_validator(mode="before")
        @classmethod
        def letters_have_parts(cls, given: Any) -> Any:
            """Each letter of the pattern gets its usual part where the recipe names none."""
            from chainrule.models.pattern import sublayers

            if not isinstance(given, dict) or not isinstance(given.get("pattern", ""), str):
                return given
            full = dict(given)
            for letter in set(sublayers(given.get("pattern", "(sf)*4"))):
                chosen = full.get(letter) or LETTERS[letter]
                full[letter] = {"name": LETTERS[letter], **chosen} if isinstance(chosen, dict) else chosen
            return full

    class Training(BaseModel):
        """What a recipe's `training` section may say: a `Plan`, and where it is carried out."""

        model_config = frozen

        budget: Annotated[Budget, OneOf()] = Budget(epochs=1)
        batch: int = Field(default=32, ge=1)
        accumulation: int = Field(default=1, ge=1)
        optimizer: Annotated[dict[str, Any], PartOf("training/optimizers")] = {"name": "adamw"}
        schedule: Annotated[dict[str, Any], PartOf("training/schedules")] = {"name": "cosine"}
        clip: float | None = Field(default=1.0, gt=0)
        ema: float | None = Field(default=None, gt=0, lt=1)
        label_smoothing: float = Field(default=0.0, ge=0, lt=1)
        reading: Literal["auto", "windows", "contiguous"] = "auto"
        precision: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
        initial: Literal["torch", "engine"] = "torch"
        compile: Literal["auto", "on", "off"] = "auto"
        evaluate_every: int | None = Field(default=None, ge=1)
        evaluate_tokens: int = Field(default=1 << 18, ge=1)
        patience: int | None = Field(default=None, ge=1)
        log_every: int = Field(default=10, ge=1)
        keep: int = Field(default=2, ge=0)
        save_every: float = Field(default=60.0, ge=0)
        device: Literal["auto", "cpu", "cuda"] = "auto"

    @staticmethod
    def train(job: Job) -> Trained:
        from chainrule.training.run import Telling, train_ids

        recipe: Any = job.recipe
        assert job.corpus is not None
        with job.timed("reading"):
            tokenizer, encoded = fit_and_encode(job.corpus, build("text/tokenizers", recipe.tokenizer), recipe.text)
            held_out = None if job.valid is None else encode(job.valid, tokenizer, recipe.text)
        workspace = _workspace(job)
        telling = Telling(log.info, job.show, lambda stack: _samples(stack, tokenizer), _identity(job, tokenizer),
                          job.force)
        with job.timed("training"), as_typed(recipe):
            check_room(shape_of(recipe), tokenizer.vocabulary_size, recipe.training.device)
            stack, fitted = train_ids(shape_of(recipe), plan_of(recipe), _text(encoded), _text(held_out),
                                      _vocabulary(tokenizer), workspace, device=recipe.training.device,
                                      telling=telling)
        job.seconds["training"] = fitted.seconds  # of all sessions; not what was prepared before the first step
        return Trained(tokenizer, language_model(stack, tokenizer), _writer(stack, workspace),
                       _report(stack, fitted, tokenizer, len(encoded.ids)), fitted.metrics,
                       saved=lambda: shutil.rmtree(workspace))

    @staticmethod
    def load(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> LanguageModel[Any]:
        from chainrule.training import weights
        from chainrule.training.run import chosen_device, new_stack

        stack = new_stack(shape_of(recipe), tokenizer.vocabulary_size, recipe.seed).to(chosen_device("auto")).eval()
        if plan_of(recipe).precision == "float64":
            stack.double()
        weights.put(stack, weights.read(folder / WEIGHTS), folder / WEIGHTS)
        return language_model(stack, tokenizer)

    @staticmethod
    def cost(recipe: Recipe, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any]:
        from chainrule.families._costs import neural_cost

        with as_typed(recipe):
            return neural_cost(recipe, vocabulary_size, tokens, measure=measure)


def shape_of(recipe: Any) -> Any:
    """The shape of the stack that a neural recipe describes; letters that the pattern lacks keep their usual part."""
    from chainrule.models.stack import Shape

    options = recipe.model
    return Shape(**{name: value for name, value in options if value is not None})


def plan_of(recipe: Any) -> Any:
    """The plan of training that a neural recipe describes."""
    from chainrule.training.plan import Budget as PlainBudget
    from chainrule.training.plan import Plan

    given = {name: value for name, value in recipe.training if name not in ("budget", "device")}
    return Plan(budget=PlainBudget(**dict(recipe.training.budget)), seed=recipe.seed, **given)


def language_model(stack: Any, tokenizer: Any) -> LanguageModel[Any]:
    """The stack as every family's model."""
    from chainrule.models.language import NeuralLanguageModel

    return NeuralLanguageModel(stack, tokenizer.start)


def _workspace(job: Job) -> Path:
    if job.out is None:
        return Path(tempfile.mkdtemp(prefix=".neural.training-", dir=job.folder))
    target = job.out.absolute()
    return target.with_name(f".{target.name}.training")


def _identity(job: Job, tokenizer: Any) -> dict[str, Any]:
    """What must not change between the beginning and the end of a training."""
    assert job.corpus is not None
    return {**job.recipe.model_dump(mode="json"), "data": job.corpus.fingerprint()[:16],
            "valid data": job.valid and job.valid.fingerprint()[:16], "tokenizer.json": tokenizer.digest()[:16]}


def _text(encoded: Encoded | None) -> Any:
    from chainrule.tasks.language import Text

    return None if encoded is None else Text(encoded.ids, int(encoded.bytes.sum()))


def _vocabulary(tokenizer: Any) -> Any:
    from chainrule.tasks.language import Vocabulary

    return Vocabulary(tokenizer.vocabulary_size, tokenizer.start, tokenizer.end)


def _samples(stack: Any, tokenizer: Any) -> list[str]:
    from chainrule.generation.generate import generate

    return [found.text for found in generate(language_model(stack, tokenizer), tokenizer, max_tokens=SAMPLE)]


def _writer(stack: Any, workspace: Path) -> Any:
    from chainrule.training import weights

    def write(folder: Path) -> None:
        weights.save(folder / WEIGHTS, weights.weights(stack))
        shutil.copyfile(workspace / TIMINGS, folder / TIMINGS)
        if (workspace / "tensorboard").is_dir():
            shutil.copytree(workspace / "tensorboard", folder / "tensorboard")

    return write


def _report(stack: Any, fitted: Any, tokenizer: Any, text_tokens: int) -> dict[str, Any]:
    course = fitted.course
    found = {"vocabulary": tokenizer.vocabulary_size, "parameters": sum(p.numel() for p in stack.parameters()),
             "steps": course.step, "epochs": round(course.tokens / text_tokens, 3), "tokens": course.tokens,
             "flops": fitted.flops, "skipped_steps": course.skipped, "training": fitted.training, "kept": fitted.kept,
             "tokens_per_second": round(fitted.tokens_per_second), "peak_memory": fitted.peak_memory,
             "advice": fitted.advice}
    for name, row in (("best", course.best), ("last", course.last)):
        if "loss" in row:
            found[name] = {key: value for key, value in row.items() if key != "number"}
    return found


