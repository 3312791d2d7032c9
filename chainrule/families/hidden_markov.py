"""The family of hidden Markov models: taggers by counting, which need neither gradients nor torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from chainrule.counting.hidden_markov.counts import counted, from_arrays
from chainrule.counting.hidden_markov.model import HiddenMarkovTagger, How
from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family
from chainrule.recipe.registry import build, part, resolve
from chainrule.starting import Start
from chainrule.storage.index_arrays import Arrays
from chainrule.storage.json_files import FACTS, read_object
from chainrule.storage.json_text import json_text
from chainrule.storage.manifest import HINT
from chainrule.storage.tensors import open_tensors, save_tensors

WEIGHTS = "model.safetensors"


@part
class HiddenMarkovFamily(Family):
    """Hidden Markov models: which tag follows which, and which word has which tag, by counting."""

    tasks = ("tagging",)
    tokenizer = None

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

        order: int = Field(default=3, ge=1, le=3)  # tags in a row; 1: each word by itself
        weights: list[float] | None = None  # of one tag, two, three in a row; null: by deleted interpolation
        ending: int = Field(default=10, ge=0)  # letters of a word that tell its tag, at most
        rare: int = Field(default=10, ge=1)  # endings are learned from words that occur at most this often
        ending_strength: float = Field(default=5.0, gt=0, allow_inf_nan=False)  # how often a shorter ending counts
        word_strength: float = Field(default=0.5, ge=0, allow_inf_nan=False)  # how often it counts for a known word

        @field_validator("weights")
        @classmethod
        def one_for_each_length(cls, weights: list[float] | None, info: ValidationInfo) -> list[float] | None:
            order = info.data.get("order", 3)
            if weights is not None and (len(weights) != order or not all(0 < each < np.inf for each in weights)):
                raise ValueError(f"{order} numbers above 0, as model.order = {order}, such as "
                                 f"{[0.2, 0.3, 0.5][:order]}")
            return weights

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        raise UsageError(f"{start.path}: counting always starts from scratch. Train on all sentences together.")

    @classmethod
    def train(cls, job: Job) -> Trained:
        recipe: Any = job.recipe
        task: Any = _checked(recipe)
        with job.timed("reading"):
            sentences = task.sentences(job.corpus)
        with job.timed("counting"):
            counts = counted((each.words, each.tags) for each in sentences)
            task.check_scheme(counts.tags)
            model = HiddenMarkovTagger(counts, _how(recipe.model))
            weights = model.chain.weights
        report = {"order": recipe.model.order, "weights": [round(each, 6) for each in weights],
                  "sentences": len(sentences), "words": int(counts.word_counts.sum()),
                  "vocabulary": len(counts.words), "tags": len(counts.tags)}
        return Trained(None, model, lambda folder: write(folder, model), report)

    @classmethod
    def load(cls, folder: Path, recipe: Any, tokenizer: Any) -> HiddenMarkovTagger:
        facts = read_object(folder / FACTS)
        tags, words = (_names(folder, facts, name) for name in ("tags", "words"))
        counts = from_arrays(Arrays(folder / WEIGHTS, open_tensors(folder / WEIGHTS)), tags, words)
        return HiddenMarkovTagger(counts, _how(recipe.model))

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        write(folder, run.model)


def write(folder: Path, model: HiddenMarkovTagger) -> None:
    """The model's own files: all that was counted, so that other options can be tried on it."""
    save_tensors(folder / WEIGHTS, model.counts.tensors())
    facts = {"tags": list(model.counts.tags), "words": list(model.counts.words)}
    (folder / FACTS).write_text(json_text(facts, indent=1) + "\n", encoding="utf-8")


def _checked(recipe: Any) -> Any:
    """The task, if nothing is said that only networks heed."""
    if recipe.tokenizer is not None:
        raise OptionError("tokenizer", recipe.tokenizer["name"], "null", "Tagged sentences are words already.")
    usual = resolve("tasks", recipe.task["name"])["inputs"]
    for name, value in recipe.task["inputs"].items():
        if usual.get(name) != value:
            raise OptionError(f"task.inputs.{name}", value, f"{json_text(usual.get(name))} as it is",
                              "A hidden Markov model counts words as they are written.")
    return build("tasks", recipe.task)


def _how(options: Any) -> How:
    weights = None if options.weights is None else tuple(options.weights)
    return How(**{**options.model_dump(), "weights": weights})


def _names(folder: Path, facts: dict[str, Any], name: str) -> list[str]:
    found = facts.get(name)
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found) or (
            len(set(found)) != len(found)):
        raise StorageError(f"{folder / FACTS}: expected a list of {name}, each once. {HINT}")
    return found
