"""What is inspected: a trained run or an untrained recipe, and rows of real text for it to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.models.inside.norms import Gradients
from chainrule.protocols import LanguageModel, Layered, Tokenizer
from chainrule.recipe.recipe import Recipe, load_recipe
from chainrule.recipe.registry import build, find
from chainrule.runs import load
from chainrule.text.corpora import open_corpus


@dataclass(frozen=True)
class Subject:
    """A model made of layers with its name, and the ids (rows, T + 1) of windows of text."""

    name: str
    model: Layered
    recipe: Any
    ids: np.ndarray

    @property
    def clip(self) -> float | None:
        """The largest gradient norm in its training."""
        return self.recipe.training.clip

    def gradients(self, clip: float | None) -> Gradients:
        """Gradient norms, clipped as in training if `clip` is None."""
        return self.model.gradients(self.ids, clip=self.clip if clip is None else clip)


def subject(name: str, overrides: Sequence[str], data: str, *, length: int, rows: int) -> Subject:
    """A run folder's model, or a recipe's with fresh weights and a tokenizer made from the text."""
    if (Path(name) / "MANIFEST.json").exists():
        if overrides:
            raise UsageError(f"{name} is trained, so {overrides[0]!r} cannot change it; a recipe can be changed.")
        run = load(name)
        return _reading(name, run.model, run.recipe, run.tokenizer, data, length, rows)
    recipe = load_recipe(name, overrides)
    model, tokenizer = _fresh(name, recipe, data)
    changes = [change.removeprefix("model.") for change in overrides]
    return _reading(" ".join([name, *changes]), model, recipe, tokenizer, data, length, rows)


def _fresh(name: str, recipe: Recipe, data: str) -> tuple[Any, Tokenizer]:
    """The untrained model."""
    from chainrule.text.encoded import fit_and_encode

    family: Any = find("families", recipe.family)
    if not family.layered or build("tasks", recipe.task).ability is not LanguageModel:
        raise _no_layers(name, recipe)
    tokenizer, _ = fit_and_encode(open_corpus(data, recipe.text), build("text/tokenizers", recipe.tokenizer),
                                  recipe.text)
    return family.begin(recipe, tokenizer), tokenizer


def _reading(name: str, model: Any, recipe: Recipe, tokenizer: Any, data: str, length: int, rows: int) -> Subject:
    from chainrule.text.encoded import encode

    if not isinstance(model, Layered):
        raise _no_layers(name, recipe)
    ids = encode(open_corpus(data, recipe.text), tokenizer, recipe.text).ids
    return Subject(name, model, recipe, windows(ids, min(length, model.window or length), rows, data))


def _no_layers(name: str, recipe: Recipe) -> UsageError:
    return UsageError(f"{name}: its family is {recipe.family} and its task {recipe.task['name']}, expected a neural "
                      "language model: only those have gradients by distance.")


def windows(ids: np.ndarray, length: int, rows: int, data: str) -> np.ndarray:
    """(rows, length + 1): windows evenly spread over the text, as many as it has room for."""
    last = len(ids) - length - 1
    if last < 0:
        raise DataError(f"{data}: {len(ids):,} tokens, expected at least {length + 1:,}. Try a longer text, or a "
                        "smaller --distance.")
    starts = np.unique(np.linspace(0, last, rows).astype(int))
    return np.stack([ids[start:start + length + 1] for start in starts]).astype(np.int64)
