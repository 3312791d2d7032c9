"""How often words occur near each other: counted in a stream, in as much memory as is allowed.

A hash table takes the pairs; when it is full, they are sorted and written to disk. At the end the sorted files are
merged a range of keys at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainrule.errors import OptionError
from chainrule.threads import frozen
from chainrule.vectors.text import UNIT_ENDS, Text

ENTRY = 16  # bytes of a key and its weight
LEAST = 1 << 16  # slots
SLOTS = 1 << 22  # that a table begins with


@dataclass(frozen=True)
class Pairs:
    """Sorted keys, smaller row · V + larger row, each once, with the sum of its weights; in memory or on disk."""

    keys: np.ndarray
    weights: np.ndarray
    vocabulary_size: int

    @property
    def rows(self) -> np.ndarray:
        return (self.keys // self.vocabulary_size).astype(np.int32)

    @property
    def columns(self) -> np.ndarray:
        return (self.keys % self.vocabulary_size).astype(np.int32)


def distance_weights(window: int, weighting: str) -> np.ndarray:
    """(window + 1,): what a pair counts at each distance d; `harmonic` 1/d, `dynamic` (w − d + 1)/w, `flat` 1."""
    d = np.arange(window + 1, dtype=np.float64)
    found = {"harmonic": 1 / np.maximum(d, 1), "dynamic": (window - d + 1) / window, "flat": np.ones(window + 1)}
    return found[weighting]


def count_pairs(text: Text, weights: np.ndarray, *, memory: int, folder: Path | None = None) -> Pairs:
    """The weight of every pair of words; `memory` is the bytes that tables may take, the rest lies in `folder`."""
    limit = 1 << int(np.log2(max(memory // ENTRY // 2, 1)))  # sorting takes as much again
    if limit < LEAST:
        raise OptionError("model.method.memory", memory >> 20, f"at least {LEAST * ENTRY * 2 >> 20}")
    with tempfile.TemporaryDirectory(prefix=".pairs-", dir=folder) as name:
        parts: list[Pairs] = []
        for part in _counted(text, weights, limit):
            parts.append(part)
            if len(parts) > 1 or len(part.keys) > limit // 4:
                parts[-1] = _spilled(parts[-1], Path(name), len(parts))
        return parts[0] if len(parts) == 1 and not isinstance(parts[0].keys, np.memmap) else _merged(parts, limit)


def _counted(text: Text, weights: np.ndarray, limit: int) -> Iterator[Pairs]:
    """The contents of each full table, sorted."""
    from chainrule.kernels import vectors_counting as kernels

    slots = min(limit, SLOTS)
    keys, values, used, position = np.full(slots, kernels.EMPTY, np.int64), np.zeros(slots), 0, 0
    recent, held = np.zeros(len(weights) - 1, np.int64), np.zeros(1, np.int64)
    while position < len(text.ids):
        read, used = kernels.count_pairs(frozen(text.ids[position:]), text.row_of, weights, text.vocabulary_size, keys,
                                         values, used, recent, held)
        position += read
        if position < len(text.ids) and slots < limit:
            slots *= 4 if slots * 4 <= limit else 2
            keys, values = _larger(keys, values, slots)
        elif position < len(text.ids):
            yield _sorted(keys, values, text.vocabulary_size)
            keys[:], values[:], used = kernels.EMPTY, 0, 0
    yield _sorted(keys, values, text.vocabulary_size)


def _larger(keys: np.ndarray, values: np.ndarray, slots: int) -> tuple[np.ndarray, np.ndarray]:
    from chainrule.kernels.vectors_counting import EMPTY, refill

    new_keys, new_values = np.full(slots, EMPTY, np.int64), np.zeros(slots)
    refill(keys, values, new_keys, new_values)
    return new_keys, new_values


def _sorted(keys: np.ndarray, values: np.ndarray, size: int) -> Pairs:
    there = np.flatnonzero(keys >= 0)
    there = there[np.argsort(keys[there])]
    return Pairs(keys[there], values[there], size)


def _spilled(pairs: Pairs, folder: Path, number: int) -> Pairs:
    """The same in two files, as memory maps."""
    found = []
    for name, array in (("keys", pairs.keys), ("weights", pairs.weights)):
        path = folder / f"{number}.{name}"
        array.tofile(path)
        found.append(np.memmap(path, array.dtype, "r", shape=array.shape))
    return Pairs(found[0], found[1], pairs.vocabulary_size)


def _merged(parts: list[Pairs], limit: int) -> Pairs:
    """A range of keys at a time: each part gives a slice, and equal keys are added up."""
    total, size = sum(len(part.keys) for part in parts), parts[0].vocabulary_size
    longest = max(parts, key=lambda part: len(part.keys)).keys
    step = max(1, len(longest) * limit // max(total, 1) // 2)
    edges = [*longest[step::step].tolist(), size * size]
    places, keys, weights = [0] * len(parts), [], []
    for edge in edges:
        ends = [int(np.searchsorted(part.keys, edge)) for part in parts]
        some = [np.concatenate([getattr(part, name)[low:high] for part, low, high
                                in zip(parts, places, ends, strict=True)]) for name in ("keys", "weights")]
        unique, which = np.unique(some[0], return_inverse=True)
        keys.append(unique)
        weights.append(np.bincount(which, some[1], len(unique)))
        places = ends
    return Pairs(np.concatenate(keys), np.concatenate(weights), size)


def count_plainly(text: Text, weights: np.ndarray) -> dict[tuple[int, int], float]:
    """The definition: every pair of words in a unit that is at most a window apart."""
    found: dict[tuple[int, int], float] = {}
    unit: list[int] = []
    for row in [*text.row_of[text.ids].tolist(), UNIT_ENDS]:
        if row == UNIT_ENDS:
            for i, one in enumerate(unit):
                for d, other in enumerate(unit[i + 1 : i + len(weights)], start=1):
                    pair = min(one, other), max(one, other)
                    found[pair] = found.get(pair, 0.0) + weights[d] * (2 if one == other else 1)
            unit = []
        elif row >= 0:
            unit.append(row)
    return found
