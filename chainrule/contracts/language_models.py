"""Contract of families and smoothing methods: a small training, and checks of its model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arrays import to_numpy
from chainrule.contracts.contract import check, require
from chainrule.protocols import LanguageModel
from chainrule.recipe.recipe import make_recipe
from chainrule.runs import load
from chainrule.verbs.train import train

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat", "on the mat the cat sat",
         "a dog and a cat and a dog and a cat", "dog dog dog dog"]
CLOSE, NEAR_ONE = 1e-5, 1e-4


def _trained(folder: Path, recipe: dict[str, Any]) -> Any:
    text, valid = folder / "text.txt", folder / "valid.txt"
    text.write_text("\n".join(LINES * 5) + "\n", encoding="utf-8")
    valid.write_text("\n".join(LINES[::-1]) + "\n", encoding="utf-8")
    train(make_recipe(recipe), text, folder / "run", valid=valid)
    return load(folder / "run")


def _stepped(model: Any, row: np.ndarray) -> np.ndarray:
    state, found = model.start(1), []
    for id in row:
        found.append(to_numpy(model.log_probs(state))[0, id])
        state = model.advance(state, np.array([id]))
    return np.array(found)


def require_language_model(run: Any) -> None:
    """Reads token by token as it scores all at once; probabilities sum to one; rows are independent."""
    model, tokenizer = run.offering(LanguageModel, "the contract"), run.tokenizer
    row = np.concatenate([tokenizer.encode(line) for line in ("the dog sat", "a mat and a cat")])
    scores = to_numpy(model.score(row[None]))[0]
    require(bool(np.allclose(_stepped(model, row), scores, atol=CLOSE)), "token by token it gives other scores")
    changed = row.copy()
    changed[-1] = row[0]
    later = to_numpy(model.score(changed[None]))[0]
    require(bool(np.allclose(later[:-1], scores[:-1], atol=CLOSE)), "a later token changes an earlier score")
    state = model.start(2)
    for id in row[:4]:
        state = model.advance(state, np.array([id, row[0]]))
    log_p = to_numpy(model.log_probs(state))
    require(bool(np.allclose(np.exp(log_p.astype(np.float64)).sum(1), 1, atol=NEAR_ONE)),
            f"probabilities sum to {np.exp(log_p.astype(np.float64)).sum(1)}")
    require(bool((log_p[:, tokenizer.start] == -np.inf).all()), "<s> has a probability")
    copies = model.pick(state, np.array([1, 0, 1]))
    require(bool(np.allclose(to_numpy(model.log_probs(copies)), log_p[[1, 0, 1]], atol=CLOSE)),
            "picked rows are not copies of the rows")
    model.advance(copies, row[:3])
    require(bool(np.array_equal(to_numpy(model.log_probs(state)), log_p)), "advancing a copy changes the state")


@check("families")
def family_makes_a_model(kind: str, name: str) -> None:
    """With its default options it trains, saves and loads a model that keeps the contract of language models."""
    with tempfile.TemporaryDirectory() as folder:
        run = _trained(Path(folder), {"family": name, "tokenizer": "bytes"})
        if isinstance(run.model, LanguageModel):
            require_language_model(run)


@check("counting/smoothing")
def smoothing_sums_to_one(kind: str, name: str) -> None:
    """An n-gram model with it keeps the contract of language models, whatever the order."""
    for order in (1, 2, 4):
        with tempfile.TemporaryDirectory() as folder:
            require_language_model(_trained(Path(folder), {
                "family": "ngram", "tokenizer": "words", "model": {"order": order, "smoothing": name}}))
