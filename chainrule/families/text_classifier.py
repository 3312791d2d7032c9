"""The family of text classifiers: labels from the mean of word and n-gram vectors, as fastText's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chainrule.classifying.autotuning import Autotuning, Bound, shape_of, with_options
from chainrule.classifying.beginning import Beginning, WithVectors
from chainrule.classifying.continuing import Earlier
from chainrule.classifying.features import Features, Shape
from chainrule.classifying.fitting import Fitted, Fitting, Texts, read_texts
from chainrule.classifying.index_check import check_arrays
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.classifying.tree import tree_tensors
from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.inputs.labeled import Example, labeled, layout_of
from chainrule.inputs.labeled_json import with_parts
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family, WordVectors
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun, load, save_run
from chainrule.starting import Start
from chainrule.storage.index_arrays import Arrays
from chainrule.storage.json_text import json_text
from chainrule.storage.manifest import HINT
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.vectors.huffman import Tree, huffman, no_tree
from chainrule.vectors.text import listed

WEIGHTS, LABELS, TRIALS = "model.safetensors", "labels.json", "trials.jsonl"
frozen = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class TimeLimit(BaseModel):
    """What ends training before its passes are done."""

    model_config = frozen

    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)


@part
class TextClassifierFamily(Family):
    """Text classifiers: the mean of word and n-gram vectors, and a linear classifier on it, as fastText's."""

    tasks = ("classification",)
    changeable = ("tokenizer.min_count", "tokenizer.size", "model.negative", "model.vectors",
                  "model.quantized")

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = frozen

        dimension: int = Field(default=100, ge=1)
        word_ngrams: int = Field(default=1, ge=1, le=16)
        min_n: int = Field(default=0, ge=0)
        max_n: int = Field(default=0, ge=0)
        bucket: int = Field(default=2_000_000, ge=1, lt=2**31)
        loss: Literal["softmax", "hierarchical_softmax", "one_vs_all", "negative_sampling"] = "softmax"
        negative: int = Field(default=5, ge=1)  # labels drawn for each text by negative_sampling
        vectors: str | None = None  # a run of word vectors to begin with
        quantized: bool = False  # set by chainrule quantize

        @field_validator("loss", mode="before")
        @classmethod
        def spelled_out(cls, value: Any) -> Any:
            """fastText's short names are understood."""
            return {"hs": "hierarchical_softmax", "ova": "one_vs_all", "ns": "negative_sampling"}.get(value, value)

    class Training(BaseModel):
        """What a recipe's `training` section may say."""

        model_config = frozen

        epochs: int = Field(default=50, ge=1)  # at most
        lr: float = Field(default=0.5, gt=0)
        patience: int | None = Field(default=3, ge=1)  # passes without better validation; null: always all epochs
        held_out: float = Field(default=0.1, ge=0, lt=1)  # of the texts, to see when to stop, unless others are given
        autotune: str | None = None  # search for better options first: a time such as 60s, or 20trials
        threads: int | None = Field(default=None, ge=1)  # all processors; 1 makes every run with a seed the same
        budget: TimeLimit = TimeLimit()

    @classmethod
    def earlier(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Runs of version 0.1.0 said in the model where labels stand."""
        model = data.get("model")
        if not isinstance(model, dict) or not isinstance(model.get("labels"), dict):
            return data
        said = {"labels" if key == "field" else key: value for key, value in model["labels"].items()}
        task = data.get("task") or "classification"
        task = {"name": task} if isinstance(task, str) else dict(task)
        return {**data, "model": {key: value for key, value in model.items() if key != "labels"},
                "task": {**said, **task}}

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        if start.recipe.model.quantized:
            raise UsageError(f"{start.path}: quantized, so that training cannot go on from it. Go on from the run that "
                             "it was made of, then: chainrule quantize RUN --out SMALL")
        if recipe.model.vectors not in (None, start.recipe.model.vectors):
            raise OptionError("model.vectors", recipe.model.vectors, f"null, since training starts from {start.path}")
        if recipe.training.autotune is not None:
            raise OptionError("training.autotune", recipe.training.autotune, f"null, since training starts from "
                              f"{start.path}", "Its weights fit the options that it was trained with.")

    @classmethod
    def train(cls, job: Job) -> Trained:
        recipe: Any = job.recipe
        bound = None if recipe.training.autotune is None else Bound.parse(recipe.training.autotune)
        shape = _checked(job)
        corpus, valid = with_parts(job.corpus, job.valid)
        with job.timed("reading"):
            fitting = Fitting(None if valid is None else list(_labeled(valid, recipe)), getattr(valid, "name", ""),
                              _beginning(job), job.show)

            def read(shape: Shape, recipe: Any) -> Texts:
                return read_texts(_labeled(corpus, recipe), shape, recipe, corpus.name, fitting.beginning)

            texts = read(shape, recipe) if bound is None else None
        with job.timed("training"):
            if texts is not None:
                return _trained(fitting.fit(texts, recipe))
            tuning = Autotuning(read, fitting, bound or Bound(), corpus.name)
            return _trained(*tuning.search(with_options(recipe, {"training.autotune": None})), tuning)

    @classmethod
    def load(cls, folder: Path, recipe: Any, tokenizer: Any) -> TextClassifier:
        options, tensors = recipe.model, open_tensors(folder / WEIGHTS)
        known, counts = _labels_of(folder), label_counts(folder)
        shape = Shape(options.word_ngrams, options.min_n, options.max_n, options.bucket)
        rows = 1 + len(tokenizer.tokens[3:]) + np.size(tensors.get("buckets", ()))
        check_arrays(Arrays(folder / WEIGHTS, tensors), rows, len(known), shape.hashed, options)
        features = Features(tokenizer.tokens[3:], tensors["buckets"], shape, cut="cut" in tensors)
        inputs: Any = QuantizedRows.from_tensors(tensors) if options.quantized else tensors["inputs"]
        tree = no_tree()
        if options.loss == "hierarchical_softmax":  # runs of earlier versions have no tree
            tree = huffman(counts) if "tree_nodes" not in tensors else Tree(
                tensors["tree_starts"], tensors["tree_nodes"], tensors["tree_codes"])
        return TextClassifier([each["label"] for each in known], features, inputs, tensors["outputs"], options.loss,
                              tree)

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        counts = label_counts(run.path) if (run.path / LABELS).is_file() else np.zeros(len(run.model.labels), np.int64)
        if isinstance(run.model.inputs, np.ndarray):
            check_numbers(run.model.inputs, run.model.outputs)
        write(folder, run.model, counts)


def _beginning(job: Job) -> Beginning:
    """What training begins with: an earlier run, word vectors, or nothing."""
    options, start = getattr(job.recipe, "model"), job.start  # noqa: B009
    if start is not None:
        return Earlier(TextClassifierFamily.load(start.path, start.recipe, start.tokenizer), label_counts(start.path))
    return Beginning() if options.vectors is None else WithVectors(_vectors(options.vectors, options.dimension))


def _trained(found: Fitted, recipe: Any = None, tuning: Autotuning | None = None) -> Trained:
    """What is saved; of a search also its trials."""
    def write_all(folder: Path) -> None:
        write(folder, found.model, found.counts)
        if tuning is not None:
            (folder / TRIALS).write_text("".join(json_text(row) + "\n" for row in tuning.rows), encoding="utf-8")

    report = {**found.report, **({} if tuning is None else tuning.report())}
    return Trained(listed(list(found.model.features.words)), found.model, write_all, report, metrics=found.rows,
                   recipe=recipe)


def write(folder: Path, model: TextClassifier, counts: np.ndarray) -> None:
    """The model's own files."""
    inputs = model.inputs
    table = {"inputs": inputs} if isinstance(inputs, np.ndarray) else inputs.tensors()  # type: ignore[attr-defined]
    cut = {"cut": np.ones(1, np.uint8)} if model.features.cut else {}
    rest = {"outputs": np.ascontiguousarray(model.outputs), "buckets": model.features.used.astype(np.int32)}
    save_tensors(folder / WEIGHTS, {**table, **cut, **tree_tensors(model.tree), **rest})
    known = [{"label": label, "count": int(count)} for label, count in zip(model.labels, counts, strict=True)]
    (folder / LABELS).write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def check_numbers(*tables: np.ndarray) -> None:
    """Refuses to save a classifier that is broken."""
    if not all(np.isfinite(table).all() for table in tables):
        raise UsageError("the weights are not finite numbers, expected a model that can be used. Nothing was saved.")


def label_counts(folder: Path) -> np.ndarray:
    """How often each label of a run occurred."""
    return np.array([each["count"] for each in _labels_of(folder)], np.int64)


def _labels_of(folder: Path) -> list[dict[str, Any]]:
    """What labels.json says: each label, and how often it occurred."""
    wrong = StorageError(f"{folder / LABELS}: expected a list of labels, each with its count. {HINT}")
    try:
        known = json.loads((folder / LABELS).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(known, list) or not known or not all(
            isinstance(each, dict) and isinstance(each.get("label"), str) and type(each.get("count")) is int
            and 0 <= each["count"] < 2**63 for each in known):
        raise wrong
    return known


def save_shrunk(run: LoadedRun, small: TextClassifier, out: Path, facts: Mapping[str, Any], *, replace: bool) -> None:
    """The run of a quantized model; its report names the run that it was made from."""
    counts = label_counts(run.path)
    changed = getattr(run.recipe, "model").model_copy(update={"quantized": True})  # noqa: B009
    save_run(out, lambda folder: write(folder, small, counts), recipe=run.recipe.model_copy(update={"model": changed}),
             tokenizer=listed(list(small.features.words)), report={**run.report, "quantized": dict(facts)},
             replace=replace)


def _checked(job: Job) -> Shape:
    recipe: Any = job.recipe
    if recipe.tokenizer["name"] != "words":
        raise OptionError("tokenizer.name", recipe.tokenizer["name"], "words")
    if recipe.model.quantized:
        raise OptionError("model.quantized", True, "false", "Train first, then: chainrule quantize RUN --out SMALL.")
    for name in ("min_count", "size"):
        if recipe.tokenizer[name] is not None and recipe.tokenizer[name] < 1:
            raise OptionError(f"tokenizer.{name}", recipe.tokenizer[name], "at least 1")
    options = recipe.model
    if options.min_n and not options.max_n:
        raise OptionError("model.max_n", 0, f"at least model.min_n, {options.min_n}", "Both 0: no such n-grams.")
    if options.max_n and not 1 <= options.min_n <= options.max_n:
        raise OptionError("model.min_n", options.min_n, f"1 to model.max_n, {options.max_n}")
    return shape_of(options)


def _vectors(path: str, dimension: int) -> Any:
    """Pretrained word vectors (Joulin et al. 2016)."""
    if not Path(path).is_dir():
        raise OptionError("model.vectors", path, "a run of word vectors",
                          "Make one of a file: chainrule import FILE --out RUN.")
    found: Any = load(path).offering(WordVectors, "model.vectors")
    if found.dimension != dimension:
        raise OptionError("model.dimension", dimension, f"{found.dimension}, as the vectors of {path}")
    return found


def _labeled(corpus: Any, recipe: Any) -> Iterator[Example]:
    return labeled(corpus, layout_of(recipe))
