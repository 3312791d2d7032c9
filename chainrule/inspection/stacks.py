"""The stack of a trained run or of an untrained recipe, and windows of text for it to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import UsageError, did_you_mean
from chainrule.inspection.subject import windows
from chainrule.recipe.recipe import load_recipe, shipped
from chainrule.recipe.registry import build, find
from chainrule.runs import load
from chainrule.text.corpora import open_corpus


@dataclass(frozen=True)
class Opened:
    """A model that is a stack over tokens, with its recipe and its tokenizer."""

    name: str
    model: Any
    recipe: Any
    tokenizer: Any

    @property
    def stack(self) -> Any:
        return self.model.stack

    @property
    def task(self) -> Any:
        return build("tasks", self.recipe.task)

    def ids(self, data: str) -> np.ndarray:
        """A text in the model's tokens."""
        from chainrule.text.encoded import encode

        return encode(open_corpus(data, self.recipe.text), self.tokenizer, self.recipe.text).ids

    def windows(self, data: str, length: int, rows: int) -> np.ndarray:
        """(rows, length): stretches of a text, evenly spread over it; no longer than the model's context."""
        return windows(self.ids(data), min(length, self.recipe.model.context) - 1, rows, data)


def opened(name: str, overrides: Sequence[str], data: str) -> Opened:
    """A run's model, or a recipe's with fresh weights and a tokenizer made from the text."""
    if (Path(name) / "MANIFEST.json").exists():
        if overrides:
            raise UsageError(f"{name} is trained, so {overrides[0]!r} cannot change it; a recipe can be changed.")
        run = load(name)
        return _checked(Opened(name, run.model, run.recipe, run.tokenizer))
    if not (name in shipped() or Path(name).suffix or Path(name).exists()):
        raise UsageError(f"no run folder or recipe is named {name!r}.{did_you_mean(name, shipped())}")
    recipe = load_recipe(name, overrides)
    changes = [change.removeprefix("model.") for change in overrides]
    return _checked(_fresh(" ".join([name, *changes]), recipe, data))


def _fresh(name: str, recipe: Any, data: str) -> Opened:
    from chainrule.text.encoded import fit_and_encode

    family: Any = find("families", recipe.family)
    if recipe.family != "neural" or recipe.model.source is not None:
        raise _no_stack(name, recipe)
    tokenizer, _ = fit_and_encode(open_corpus(data, recipe.text), build("text/tokenizers", recipe.tokenizer),
                                  recipe.text)
    return Opened(name, family.begin(recipe, tokenizer), recipe, tokenizer)


def _checked(found: Opened) -> Opened:
    stack: Any = getattr(found.model, "stack", None)
    if not hasattr(stack, "sublayers") or stack.source is not None or not stack.vocabulary:
        raise _no_stack(found.name, found.recipe)
    stack.eval()
    return found


def _no_stack(name: str, recipe: Any) -> UsageError:
    return UsageError(f"{name}: its family is {recipe.family} and its task {recipe.task['name']}, expected a neural "
                      "model that reads tokens and has no source, such as a language model or a masked one.")
