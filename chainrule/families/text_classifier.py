"""The family of text classifiers: labels from the mean of word and n-gram vectors, as fastText's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chainrule.classifying.features import Features, Shape
from chainrule.classifying.labeled import examples, layout_of
from chainrule.classifying.learning import fresh, learn
from chainrule.classifying.measuring import measure
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.classifying.targets import Gathered, Targets
from chainrule.classifying.vocabulary import learn_features
from chainrule.errors import OptionError, UsageError
from chainrule.jobs import Job, Trained
from chainrule.registry import part
from chainrule.runs import LoadedRun, save_run
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.corpora import open_corpus
from chainrule.text.options import Column
from chainrule.threads import cores
from chainrule.vectors.plan import Plan
from chainrule.vectors.text import listed

WEIGHTS, LABELS = "model.safetensors", "labels.json"
frozen = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Labels(BaseModel):
    """Where labels stand: see `chainrule.classifying.labeled.Layout`."""

    model_config = frozen

    prefix: str = Field(default="__label__", min_length=1)
    field: Column = "label"
    separator: str | None = None


@part
class TextClassifierFamily:
    """Text classifiers: the mean of word and n-gram vectors, and a linear classifier on it, as fastText's."""

    uses = ("predict {run} FILE", "evaluate {run} --data FILE", "quantize {run} --out SMALL")

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = frozen

        dimension: int = Field(default=100, ge=1)
        word_ngrams: int = Field(default=1, ge=1, le=16)
        min_n: int = Field(default=0, ge=0)
        max_n: int = Field(default=0, ge=0)
        bucket: int = Field(default=2_000_000, ge=1, lt=2**31)
        loss: Literal["softmax", "hierarchical_softmax", "one_vs_all"] = "softmax"
        labels: Labels = Labels()
        quantized: bool = False  # set by chainrule quantize

    class Training(BaseModel):
        """What a recipe's `training` section may say."""

        model_config = frozen

        epochs: int = Field(default=5, ge=1)
        lr: float = Field(default=0.1, gt=0)
        threads: int | None = Field(default=None, ge=1)  # all processors; 1 makes every run with a seed the same

    @staticmethod
    def train(job: Job) -> Trained:
        recipe: Any = job.recipe
        corpus: Any = job.corpus
        shape, options = _checked(job), recipe.training
        with job.timed("reading"):
            gathered = Gathered()
            texts = gathered.texts(examples(corpus.sources, layout_of(recipe.text, recipe.model.labels)))
            features, bags, words = learn_features(texts, shape, min_count=recipe.tokenizer["min_count"],
                                                   size=recipe.tokenizer["size"], threads=options.threads or cores())
            labels, targets = gathered.finished(corpus.name)
        loss = recipe.model.loss
        plan = Plan(dimension=recipe.model.dimension, epochs=options.epochs, alpha=options.lr,
                    threads=options.threads or cores(), seed=recipe.seed, show=job.show)
        with job.timed("training"):
            rows = len(labels) - (loss == "hierarchical_softmax")
            inputs, outputs = fresh(features.rows, rows, plan)
            facts = learn(bags, targets, plan, loss, inputs, outputs)
        inputs, outputs = inputs[:, : plan.dimension], outputs[:, : plan.dimension]
        model = TextClassifier(labels, features, inputs, outputs, loss, targets.tree(loss))
        report = {"labels": len(labels), "texts": len(bags), "words": words, "vocabulary": len(features.words),
                  "ngrams": len(features.used), **facts}
        return Trained(listed(list(features.words)), model,  # type: ignore[arg-type]
                       lambda folder: write(folder, model, targets.counts), report)

    @staticmethod
    def load(folder: Path, recipe: Any, tokenizer: Any) -> TextClassifier:
        options, tensors = recipe.model, open_tensors(folder / WEIGHTS)
        known = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        shape = Shape(options.word_ngrams, options.min_n, options.max_n, options.bucket)
        features = Features(tokenizer.tokens[3:], tensors["buckets"], shape, cut="cut" in tensors)
        inputs: Any = QuantizedRows.from_tensors(tensors) if options.quantized else tensors["inputs"]
        counts = np.array([each["count"] for each in known])
        tree = Targets(np.zeros(0), np.zeros(0), counts).tree(options.loss)
        return TextClassifier([each["label"] for each in known], features, inputs, tensors["outputs"], options.loss,
                              tree)

    @staticmethod
    def evaluate(run: LoadedRun, data: str | Path | Sequence[str | Path]) -> dict[str, Any]:
        recipe: Any = run.recipe
        corpus = open_corpus(data, recipe.text)
        return measure(run.model, examples(corpus.sources, layout_of(recipe.text, recipe.model.labels)), corpus.name)


def write(folder: Path, model: TextClassifier, counts: np.ndarray) -> None:
    """The model's own files."""
    inputs = model.inputs
    table = {"inputs": inputs} if isinstance(inputs, np.ndarray) else inputs.tensors()  # type: ignore[attr-defined]
    cut = {"cut": np.ones(1, np.uint8)} if model.features.cut else {}
    save_tensors(folder / WEIGHTS, {**table, **cut, "outputs": np.ascontiguousarray(model.outputs),
                                    "buckets": model.features.used.astype(np.int32)})
    known = [{"label": label, "count": int(count)} for label, count in zip(model.labels, counts, strict=True)]
    (folder / LABELS).write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def save_shrunk(run: LoadedRun, small: TextClassifier, out: Path, facts: Mapping[str, Any], *, replace: bool) -> None:
    """The run of a quantized model; its report tells what it was made from."""
    known = json.loads((run.path / LABELS).read_text(encoding="utf-8"))
    counts = np.array([each["count"] for each in known])
    changed = getattr(run.recipe, "model").model_copy(update={"quantized": True})  # noqa: B009
    save_run(out, lambda folder: write(folder, small, counts), recipe=run.recipe.model_copy(update={"model": changed}),
             tokenizer=listed(list(small.features.words)), report={**run.report, "quantized": dict(facts)},
             replace=replace)


def _checked(job: Job) -> Shape:
    recipe: Any = job.recipe
    if job.valid is not None:
        raise UsageError("a text classifier is not validated while it trains: leave out --valid and split.valid, and "
                         "measure it with chainrule evaluate RUN --data FILE.")
    if recipe.tokenizer["name"] != "words":
        raise OptionError("tokenizer.name", recipe.tokenizer["name"], "words")
    if recipe.model.quantized:
        raise OptionError("model.quantized", True, "false", "Train first, then: chainrule quantize RUN --out SMALL.")
    options = recipe.model
    if options.max_n and not 1 <= options.min_n <= options.max_n:
        raise OptionError("model.min_n", options.min_n, f"1 to model.max_n, {options.max_n}")
    return Shape(options.word_ngrams, options.min_n, options.max_n, options.bucket)
