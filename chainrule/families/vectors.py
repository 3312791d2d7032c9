"""The family of word vectors: skip-gram, CBOW, subwords, GloVe, PPMI and graph walks, on one store."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chainrule.errors import DataError, OptionError, UsageError
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family, Tokenizer
from chainrule.recipe.choices import PartOf
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import build, part
from chainrule.runs import LoadedRun, load
from chainrule.starting import Start
from chainrule.storage import open_run
from chainrule.storage.environment import memory
from chainrule.storage.manifest import NAME
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.threads import cores
from chainrule.vectors.continuing import by_new_rows, check_same, joined_text
from chainrule.vectors.from_tensors import tensors_of, vectors_of
from chainrule.vectors.phrases import join_phrases
from chainrule.vectors.store import Vectors
from chainrule.vectors.text import Source, Text, checked
from chainrule.vectors.training_options import TrainingOptions

WEIGHTS, METHODS = "model.safetensors", "vectors/methods"
TABLES = 2  # that every method needs at least: the vectors, and what they are trained against
frozen = ConfigDict(frozen=True, extra="forbid", validate_default=True)
log = logging.getLogger("chainrule")


class Phrases(BaseModel):
    """Pairs of words that become one: see `chainrule.vectors.phrases`."""

    model_config = frozen

    passes: int = Field(default=0, ge=0, le=8)  # a second pass joins pairs to longer phrases
    threshold: float = Field(default=100.0, gt=0)
    discount: float = Field(default=5.0, ge=0)


@part
class VectorsFamily(Family):
    """Word vectors: a vector for each word, near where words are alike."""

    tasks = ("word_vectors",)
    tokenizer = "plain_words"
    changeable = ("model.window", "model.method", "model.phrases", "model.initial", "tokenizer.min_count",
                  "tokenizer.size")

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = frozen

        dimension: int = Field(default=100, ge=1)
        window: int = Field(default=5, ge=1, le=1000)
        method: Annotated[dict[str, Any], PartOf(METHODS)] = {"name": "skipgram"}
        phrases: Phrases = Phrases()
        initial: str | None = None  # a run of the same method from which training continues

    class Training(BaseModel):
        """What a recipe's `training` section may say; null is the method's usual value, or that it has none."""

        model_config = frozen

        epochs: int | None = Field(default=None, ge=1)
        alpha: float | None = Field(default=None, gt=0, allow_inf_nan=False)
        min_alpha: float | None = Field(default=None, ge=0, allow_inf_nan=False)
        sample: float | None = Field(default=None, ge=0)
        threads: int | None = Field(default=None, ge=1)  # all processors; 1 makes every run with a seed the same

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        if recipe.model.initial not in (None, start.recipe.model.initial):
            raise OptionError("model.initial", recipe.model.initial, f"null, since training starts from {start.path}")
        _check_earlier("start_from", str(start.path), start.recipe, recipe)

    @classmethod
    def train(cls, job: Job) -> Trained:
        recipe: Any = _without_initial(job)
        if job.valid is not None:
            raise UsageError("word vectors are not measured on a text: leave out --valid and split.valid, and measure "
                             "them with chainrule evaluate RUN --data questions-words.txt.")
        method: Any = build(METHODS, recipe.model.method)
        assert job.corpus is not None
        source = Source(job.corpus, build("text/tokenizers", recipe.tokenizer), recipe.text, recipe.seed)
        options = replace(training_options(recipe, method, job.show), folder=job.folder)
        with job.timed("reading"):
            earlier = job.start or _earlier(recipe)
            text = _read(source, method, recipe, earlier)
        before = None if earlier is None else by_new_rows(_tensors(earlier.path), earlier.tokenizer, text)
        _check_memory(text.vocabulary_size, options.dimension)
        with job.timed("training"):
            learned = method.learn(text, options, before)
        _check_finite(learned.tensors["vectors"], options)
        tensors = {**learned.tensors, "counts": text.counts if before is None else before["counts"] + text.counts}
        report = {"method": recipe.model.method["name"], "vocabulary": text.vocabulary_size, "words": text.tokens,
                  "dimension": learned.tensors["vectors"].shape[1], **learned.facts}
        return Trained(text.tokenizer, vectors_of(tensors, text.tokenizer),
                       lambda folder: save_tensors(folder / WEIGHTS, tensors), report, recipe=settled(recipe, method))

    @classmethod
    def load(cls, folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> Vectors:
        return vectors_of(_tensors(folder), tokenizer, folder / WEIGHTS)

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        """The vectors as they are now; what only training needs is kept if none of them was changed."""
        tensors = tensors_of(run.model)
        if (run.path / NAME).is_file():
            before = open_tensors(open_run(run.path).file(WEIGHTS))
            if all(name in before and np.array_equal(before[name], tensors[name]) for name in tensors):
                tensors = before
        _check_numbers(tensors["vectors"])
        save_tensors(folder / WEIGHTS, tensors)


def _check_memory(words: int, dimension: int) -> None:
    """Refuses tables larger than the machine's memory: filling it would end other programs too."""
    most = memory() // (4 * TABLES * words)
    if dimension > most:
        raise OptionError("model.dimension", dimension, f"at most {most:,} for {words:,} words", "This machine has "
                          f"{memory() / 1e9:,.0f} GB of memory. Or raise tokenizer.min_count, for fewer words.")


def _check_finite(vectors: np.ndarray, options: TrainingOptions) -> None:
    """Refuses vectors that diverged."""
    if not np.isfinite(vectors.sum(dtype=np.float64)):
        raise OptionError("training.alpha", options.alpha, "a smaller learning rate",
                          "With this one training diverged.")


def _check_numbers(vectors: np.ndarray) -> None:
    if not np.isfinite(vectors).all():
        raise UsageError("the vectors are not finite numbers, expected a model that can be used. Nothing was saved.")


def training_options(recipe: Any, method: Any, show: Any = None) -> TrainingOptions:
    """The options of a recipe, with the method's defaults where null; options that the method lacks are refused."""
    given = {name: value for name, value in recipe.training if value is not None and name != "threads"}
    for name in given:
        if name not in method.usual:
            raise OptionError(f"training.{name}", given[name], "null",
                              f"The method {recipe.model.method['name']} has no such option.")
    options = {**method.usual, **given}
    if options.get("min_alpha", 0) > options.get("alpha", 1):
        raise OptionError("training.min_alpha", options["min_alpha"], f"at most training.alpha, {options['alpha']}")
    return TrainingOptions(dimension=recipe.model.dimension, window=recipe.model.window,
                           threads=recipe.training.threads or cores(), seed=recipe.seed, show=show, **options)


def settled(recipe: Any, method: Any) -> Any:
    """The recipe with the values that were used, except for the number of threads."""
    given = {name: value for name, value in recipe.training if value is not None}
    training = recipe.training.model_copy(update={**method.usual, **given})
    return recipe.model_copy(update={"training": training})


def _read(source: Source, method: Any, recipe: Any, earlier: LoadedRun | Start | None) -> Text:
    options = recipe.model
    if earlier is not None:
        if options.phrases.passes:
            raise OptionError("model.phrases.passes", options.phrases.passes, "0 where training goes on from a run",
                              "Join the phrases in the text first.")
        text = joined_text(source, earlier.tokenizer, _tensors(earlier.path)["counts"])
        if not text.tokens:
            raise DataError(f"{source.corpus.name}: none of its words is in the vocabulary.")
        return text
    text = method.read(source)
    if options.phrases.passes and options.method["name"] == "node2vec":
        raise OptionError("model.phrases.passes", options.phrases.passes, "0 for a graph", "Nodes are not joined.")
    for number in range(options.phrases.passes):
        text, found = join_phrases(text, threshold=options.phrases.threshold, discount=options.phrases.discount,
                                   min_count=recipe.tokenizer.get("min_count", 1))
        log.info(f"phrases, pass {number + 1}: {found:,} pairs of words are joined.")
    return checked(text, source)


def _without_initial(job: Job) -> Any:
    """The recipe of a training that starts from a run: `model.initial` is how that run itself began."""
    if job.start is None:
        return job.recipe
    return job.recipe.model_copy(update={"model": job.recipe.model.model_copy(update={"initial": None})})


def _earlier(recipe: Any) -> LoadedRun | None:
    if recipe.model.initial is None:
        return None
    run = load(recipe.model.initial)
    if run.recipe.family != recipe.family:
        raise UsageError(f"{run.path}: of the family {run.recipe.family}, expected {recipe.family}.")
    _check_earlier("model.initial", recipe.model.initial, run.recipe, recipe)
    return run


def _check_earlier(option: str, path: str, earlier: Any, recipe: Any) -> None:
    """Refuses a run that a training cannot go on from."""
    method: Any = build(METHODS, recipe.model.method)
    if not method.continues:
        raise OptionError(option, path, "null", f"The method {recipe.model.method['name']} always starts from scratch.")
    check_same(path, earlier.model, recipe.model)
    tensors = _tensors(Path(path))
    if "grams" in tensors and "words" not in tensors:
        raise UsageError(f"{path}: its vectors were changed and saved without the rows that they are means of, which "
                         "training needs.")


def _tensors(folder: Path) -> dict[str, Any]:
    return open_tensors(folder / WEIGHTS)
