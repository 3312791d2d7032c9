"""What is looked at: a trained run or a recipe as training would begin it, and rows of real text for it to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.inspection.norms import Gradients
from chainrule.protocols import Tokenizer
from chainrule.recipe.recipe import Recipe, load_recipe
from chainrule.runs import load
from chainrule.text.corpora import open_corpus


@dataclass(frozen=True)
class Subject:
    """A stack of torch or of the engine with its name, and the ids (rows, T + 1) of windows of text."""

    name: str
    stack: Any
    recipe: Recipe
    ids: np.ndarray

    @property
    def clip(self) -> float | None:
        """The largest norm of a gradient that its training lets pass."""
        return getattr(self.recipe, "training").clip  # noqa: B009

    def gradients(self, clip: float | None) -> Gradients:
        """Their norms, clipped at what training clips at if nothing is given; an engine's without torch."""
        largest = self.clip if clip is None else clip
        if self.recipe.family == "engine":
            from chainrule.inspection.engine_gradients import measure as of_engine

            return of_engine(self.stack, self.ids, clip=largest)
        import torch

        from chainrule.inspection.gradients import measure as of_torch

        return of_torch(self.stack.cpu(), torch.from_numpy(self.ids), clip=largest)


def subject(name: str, overrides: Sequence[str], data: str, *, length: int, rows: int) -> Subject:
    """A run folder's model, or a recipe's with fresh weights and a tokenizer made from the text."""
    if (Path(name) / "MANIFEST.json").exists():
        if overrides:
            raise UsageError(f"{name} is trained, so {overrides[0]!r} cannot change it; a recipe can be changed.")
        run = load(name)
        return _reading(name, run.model, run.recipe, run.tokenizer, data, length, rows)
    recipe = load_recipe(name, overrides)
    _must_have_gradients(name, recipe)
    model, tokenizer = _fresh(recipe, data)
    changes = [change.removeprefix("model.") for change in overrides]
    return _reading(" ".join([name, *changes]), model, recipe, tokenizer, data, length, rows)


def _fresh(recipe: Recipe, data: str) -> tuple[Any, Tokenizer]:
    from chainrule.recipe.error_paths import recipe_paths_in_errors
    from chainrule.recipe.registry import build
    from chainrule.text.encoded import fit_and_encode

    tokenizer, _ = fit_and_encode(open_corpus(data, recipe.text), build("text/tokenizers", recipe.tokenizer),
                                  recipe.text)
    with recipe_paths_in_errors(recipe):
        return _begun(recipe, tokenizer), tokenizer


def _begun(recipe: Any, tokenizer: Tokenizer) -> Any:
    if recipe.family == "engine":
        from chainrule.families import engine

        return engine.language_model(engine.new_stack(recipe, tokenizer.vocabulary_size), tokenizer)
    from chainrule.families import neural

    shape = neural.shape_of(recipe)
    from chainrule.training.run import new_stack

    stack = new_stack(shape, tokenizer.vocabulary_size, recipe.seed, recipe.training.initial)
    return neural.language_model(stack, tokenizer)


def _reading(name: str, model: Any, recipe: Recipe, tokenizer: Any, data: str, length: int, rows: int) -> Subject:
    from chainrule.text.encoded import encode

    _must_have_gradients(name, recipe)
    ids = encode(open_corpus(data, recipe.text), tokenizer, recipe.text).ids
    length = min(length, model.window or length)
    return Subject(name, model.stack, recipe, windows(ids, length, rows, data))


def windows(ids: np.ndarray, length: int, rows: int, data: str) -> np.ndarray:
    """(rows, length + 1): windows evenly spread over the text, as many as it has room for."""
    last = len(ids) - length - 1
    if last < 0:
        raise DataError(f"{data}: {len(ids):,} tokens, expected at least {length + 1:,}. Try a longer text, or a "
                        "smaller --distance.")
    starts = np.unique(np.linspace(0, last, rows).astype(int))
    return np.stack([ids[start:start + length + 1] for start in starts]).astype(np.int64)


def _must_have_gradients(name: str, recipe: Recipe) -> None:
    if recipe.family not in ("neural", "engine"):
        raise UsageError(f"{name}: its family is {recipe.family}, expected neural or engine: only there gradients are "
                         "measured.")
