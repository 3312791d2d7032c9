"""Tries of n-grams read from a file: every index is checked before a query follows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from chainrule.counting.quantized import CODES
from chainrule.storage.index_arrays import Arrays
from chainrule.storage.verified import once


def check_table(path: Path, named: Mapping[str, np.ndarray], vocabulary_size: int) -> None:
    """Refuses the arrays of a `Table` that do not fit together; a large file that was not touched is checked once."""
    once(path, f"table of {vocabulary_size} words", lambda: _table(Arrays(path, named), vocabulary_size))


def check_counts(path: Path, named: Mapping[str, np.ndarray], vocabulary_size: int) -> None:
    """The same for `Counts`."""
    once(path, f"counts of {vocabulary_size} words", lambda: _counts(Arrays(path, named), vocabulary_size))


def _table(arrays: Arrays, vocabulary_size: int) -> None:
    order = _order(arrays, "log_probs")
    compact = "order1.log_probs.book" in arrays.named
    numbers = {f"order{n}.{key}" for n in range(1, order + 1) for key in ("log_probs", "backoffs")}
    numbers.remove(f"order{order}.backoffs")
    indices = {f"order{n}.starts" for n in range(1, order)} | {f"order{n}.words" for n in range(2, order + 1)}
    arrays.only(numbers | indices | ({f"{name}.book" for name in numbers} if compact else set()))
    for name in sorted(numbers):
        first = name.startswith("order1.")
        size = vocabulary_size if first else len(arrays.get(f"{name.split('.')[0]}.words", np.int32, None))
        arrays.get(name, np.uint16 if compact else np.float32, size)
        if compact:
            book = arrays.get(f"{name}.book", np.float32, None)
            if len(book) < CODES:
                arrays.below(name, len(book))
    _trie(arrays, order, vocabulary_size)


def _counts(arrays: Arrays, vocabulary_size: int) -> None:
    order = _order(arrays, "counts")
    names = {f"order{n}.{key}" for n in range(1, order + 1) for key in ("words", "counts", "starts")}
    arrays.only(names - {f"order{order}.starts"})
    arrays.get("order1.words", np.int32, vocabulary_size)
    arrays.below("order1.words", vocabulary_size)
    arrays.rising("order1.words", np.zeros(1, np.uint32))
    for n in range(1, order + 1):
        arrays.get(f"order{n}.counts", np.uint32, len(arrays.get(f"order{n}.words", np.int32, None)))
    _trie(arrays, order, vocabulary_size)


def _order(arrays: Arrays, key: str) -> int:
    """How many orders there are, one after the other; at least 1."""
    order = 1
    while f"order{order + 1}.{key}" in arrays.named:
        order += 1
    return order


def _trie(arrays: Arrays, order: int, vocabulary_size: int) -> None:
    """`starts` partition the order above, whose words are in the vocabulary and sorted after each context."""
    size = vocabulary_size
    for n in range(1, order):
        starts = arrays.get(f"order{n}.starts", np.uint32, size + 1)
        words = arrays.get(f"order{n + 1}.words", np.int32, None)
        size = len(words)
        arrays.offsets(f"order{n}.starts", size)
        arrays.below(f"order{n + 1}.words", vocabulary_size)
        arrays.rising(f"order{n + 1}.words", starts)
