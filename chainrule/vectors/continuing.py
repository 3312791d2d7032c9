"""Continuing training from an earlier run, with the words that the new text adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.text.encoded import fit_and_encode
from chainrule.vectors.huffman import grafted
from chainrule.vectors.methods._method import Tensors
from chainrule.vectors.text import Source, Text, numbered, read_with, spellings

BY_ROW = ("vectors", "words", "outputs")  # tensors with a row for each word


def joined_text(source: Source, tokenizer: Any, counts: np.ndarray) -> Text:
    """The new text with the words of both: all earlier words, however rare here, and the frequent new ones.

    A tokenizer whose words cannot be joined stays as it is.
    """
    if not hasattr(source.trainer, "join"):
        return read_with(tokenizer, source)
    own, encoded = fit_and_encode(source.corpus, source.trainer, source.options)
    if not (isinstance(own, type(tokenizer)) or isinstance(tokenizer, type(own))):
        raise UsageError(f"tokenizer.name = {own.name!r}, expected {tokenizer.name!r} as in the run that training goes "
                         "on from.")
    new, marks = numbered(encoded.ids, own), np.zeros(3, np.int64)
    kept = np.maximum(counts, getattr(source.trainer, "min_count", 1))  # whatever is asked of new words
    joined, _ = source.trainer.join([tokenizer, own], [np.concatenate([marks, each]) for each in (kept, new.counts)])
    return read_with(joined, source)


def by_new_rows(before: Tensors, tokenizer: Any, text: Text) -> Tensors:
    """The earlier tensors with a row for each word of the text; rows of NaN, and counts of 0, where a word is new.

    Of a hierarchical softmax the tree is kept, with the new words beside it: other counts would make another tree,
    whose inner nodes part other words.
    """
    row = {word: r for r, word in enumerate(spellings(tokenizer))}
    rows = np.array([row.get(word, -1) for word in spellings(text.tokenizer)])
    found = dict(before)
    for name in BY_ROW:
        if name in before and len(before[name]) == len(row):
            table = np.full((len(rows), before[name].shape[1]), np.nan, np.float32)
            table[rows >= 0] = before[name][rows[rows >= 0]]
            found[name] = table
    if "tree" in before:
        found["tree"] = grafted(before["tree"], rows, text.counts)
        new = np.full((len(rows) - len(row), before["outputs"].shape[1]), np.nan, np.float32)
        found["outputs"] = np.concatenate([before["outputs"], new])
    found["counts"] = np.where(rows >= 0, before["counts"][np.maximum(rows, 0)], 0)
    return found


def check_same(path: str, earlier: Any, now: Any) -> None:
    """Only a run with the same method, dimension and buckets of n-grams can be continued."""
    if earlier.dimension != now.dimension:
        raise UsageError(f"{path}: its model.dimension is {earlier.dimension}, expected {now.dimension} as here. Try "
                         f"model.dimension={earlier.dimension}.")
    if earlier.method["name"] != now.method["name"]:
        raise UsageError(f"{path}: its model.method is {earlier.method['name']}, expected {now.method['name']} as "
                         "here.")
    old, new = (each.method.get("bucket") for each in (earlier, now))
    if old != new:
        raise UsageError(f"{path}: its model.method.bucket is {old}, expected {new} as here: n-grams would get each "
                         f"other's vectors. Try model.method.bucket={old}.")
