"""The family of text classifiers: labels from the mean of word and n-gram vectors, as fastText's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chainrule.classifying.features import Features, Shape
from chainrule.classifying.index_check import check_arrays
from chainrule.classifying.labeled import Example, labeled, layout_of
from chainrule.classifying.learning import fresh, learn
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.classifying.targets import Gathered
from chainrule.classifying.tree import tree_tensors
from chainrule.classifying.validating import Validation
from chainrule.classifying.vocabulary import learn_features
from chainrule.errors import DataError, OptionError, StorageError
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family, WordVectors
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun, load, save_run
from chainrule.storage.index_arrays import Arrays
from chainrule.storage.manifest import HINT
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.options import Column
from chainrule.threads import cores
from chainrule.vectors.huffman import Tree, huffman, no_tree
from chainrule.vectors.text import listed
from chainrule.vectors.training_options import TrainingOptions

WEIGHTS, LABELS = "model.safetensors", "labels.json"
frozen = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Labels(BaseModel):
    """Where labels stand: see `chainrule.classifying.labeled.Layout`."""

    model_config = frozen

    prefix: str = Field(default="__label__", min_length=1)
    field: Column = "label"
    separator: str | None = None


class TimeLimit(BaseModel):
    """What ends training before its passes are done."""

    model_config = frozen

    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)


@part
class TextClassifierFamily(Family):
    """Text classifiers: the mean of word and n-gram vectors, and a linear classifier on it, as fastText's."""

    tasks = ("classification",)

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
        labels: Labels = Labels()
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

        epochs: int = Field(default=5, ge=1)
        lr: float = Field(default=0.1, gt=0)
        patience: int | None = Field(default=None, ge=1)  # passes without better validation, then the best is kept
        threads: int | None = Field(default=None, ge=1)  # all processors; 1 makes every run with a seed the same
        budget: TimeLimit = TimeLimit()

    @classmethod
    def train(cls, job: Job) -> Trained:
        recipe: Any = job.recipe
        shape, options, loss = _checked(job), recipe.training, recipe.model.loss
        training = TrainingOptions(dimension=recipe.model.dimension, epochs=options.epochs, alpha=options.lr,
                                   threads=options.threads or cores(), seed=recipe.seed, show=job.show,
                                   seconds=options.budget.seconds)
        with job.timed("reading"):
            known = None if recipe.model.vectors is None else _vectors(recipe.model.vectors, training.dimension)
            gathered = Gathered()
            features, bags, words = learn_features(
                gathered.texts(_labeled(job.corpus, recipe)), shape, min_count=recipe.tokenizer["min_count"],
                size=recipe.tokenizer["size"], threads=training.threads,
                more=[] if known is None else [word.encode() for word in known.words])
            labels, targets = gathered.finished(job.corpus.name)  # type: ignore[union-attr]
            _check_words(features, job.corpus.name)  # type: ignore[union-attr]
        with job.timed("training"):
            inputs, outputs = fresh(features.rows, len(labels) - (loss == "hierarchical_softmax"), training)
            if known is not None:
                _begin_with(known, features, inputs[:, : training.dimension])
            model = TextClassifier(labels, features, inputs[:, : training.dimension],
                                   outputs[:, : training.dimension], loss, targets.tree(loss))
            validation = None if job.valid is None else Validation(
                model, _labeled(job.valid, recipe), job.valid.name, options.patience)
            facts = learn(bags, targets, training, loss, inputs, outputs, negative=recipe.model.negative,
                          after_epoch=None if validation is None else validation.after)
        report = {"labels": len(labels), "texts": len(bags), "words": words, "vocabulary": len(features.words),
                  "ngrams": len(features.used), **facts, **({} if validation is None else validation.finish())}
        return Trained(listed(list(features.words)), model,
                       lambda folder: write(folder, model, targets.counts), report,
                       metrics=[] if validation is None else validation.rows)

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


def write(folder: Path, model: TextClassifier, counts: np.ndarray) -> None:
    """The model's own files."""
    inputs = model.inputs
    table = {"inputs": inputs} if isinstance(inputs, np.ndarray) else inputs.tensors()  # type: ignore[attr-defined]
    cut = {"cut": np.ones(1, np.uint8)} if model.features.cut else {}
    rest = {"outputs": np.ascontiguousarray(model.outputs), "buckets": model.features.used.astype(np.int32)}
    save_tensors(folder / WEIGHTS, {**table, **cut, **tree_tensors(model.tree), **rest})
    known = [{"label": label, "count": int(count)} for label, count in zip(model.labels, counts, strict=True)]
    (folder / LABELS).write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


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
    if job.valid is None and recipe.training.patience is not None:
        raise OptionError("training.patience", recipe.training.patience, "texts to validate on",
                          "Give them with --valid FILE, or set some aside with split.valid=0.1.")
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
    return Shape(options.word_ngrams, options.min_n, options.max_n, options.bucket)


def _check_words(features: Features, name: str) -> None:
    """A model without any word or n-gram would give every text the same answer."""
    if not len(features.words) and not len(features.used):
        raise DataError(f"{name}: no word occurs as often as tokenizer.min_count asks. Try tokenizer.min_count=1, or "
                        "more text.")


def _vectors(path: str, dimension: int) -> Any:
    """Pretrained word vectors (Joulin et al. 2016)."""
    if not Path(path).is_dir():
        raise OptionError("model.vectors", path, "a run of word vectors",
                          "Make one of a file: chainrule import FILE --out RUN.")
    found: Any = load(path).offering(WordVectors, "model.vectors")
    if found.dimension != dimension:
        raise OptionError("model.dimension", dimension, f"{found.dimension}, as the vectors of {path}")
    return found


def _begin_with(known: Any, features: Features, inputs: np.ndarray) -> None:
    """Copies the pretrained vectors into the rows of their words."""
    for row, word in enumerate(features.words, start=1):
        if (place := known.rows.get(word.decode())) is not None:
            inputs[row] = known.table[place]


def _labeled(corpus: Any, recipe: Any) -> Iterator[Example]:
    return labeled(corpus, layout_of(recipe.text, recipe.model.labels))
