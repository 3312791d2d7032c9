"""Training that goes on from an earlier run, with the words that the new text adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.vectors.methods._method import Tensors
from chainrule.vectors.text import Source, Text, numbered, read_text, read_with, spellings

BY_ROW = ("vectors", "words", "outputs")  # tensors with a row for each word


def joined_text(source: Source, tokenizer: Any, counts: np.ndarray) -> Text:
    """The new text over the words of both; a tokenizer whose words cannot be joined stays as it is."""
    if not hasattr(source.trainer, "join"):
        return read_with(tokenizer, source)
    new = read_text(source)
    marks = np.zeros(3, np.int64)
    times = [np.concatenate([marks, each]) for each in (counts, new.counts)]
    joined, renumber = source.trainer.join([tokenizer, new.tokenizer], times)
    return numbered(_renumbered(new.ids, renumber[1]), joined)


def _renumbered(ids: np.ndarray, new: np.ndarray) -> np.ndarray:
    return new.astype(np.uint16 if new.max() < 1 << 16 else np.int32)[ids]


def by_new_rows(before: Tensors, tokenizer: Any, text: Text) -> Tensors:
    """The earlier tensors with a row for each word of the text; rows of NaN where a word is new."""
    row = {word: r for r, word in enumerate(spellings(tokenizer))}
    rows = np.array([row.get(word, -1) for word in spellings(text.tokenizer)])
    found = dict(before)
    for name in BY_ROW:
        if name in before and len(before[name]) == len(row):
            table = np.full((len(rows), before[name].shape[1]), np.nan, np.float32)
            table[rows >= 0] = before[name][rows[rows >= 0]]
            found[name] = table
    return found


def check_same(path: str, earlier: Any, now: Any) -> None:
    """Only a run of the same method and size can go on."""
    for name in ("dimension", "method"):
        old, new = getattr(earlier, name, None), getattr(now, name)
        if name == "method":
            old, new = old and old["name"], new["name"]
        if old != new:
            raise UsageError(f"{path}: its model.{name} is {old}, expected {new} as here.")
