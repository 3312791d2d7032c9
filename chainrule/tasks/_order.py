"""The order in which a text is read: a pure function of seed and step, so that checkpoints need not store it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np


def generator(seed: int, number: int) -> np.random.Generator:
    """A generator of its own for each number (Salmon et al. 2011: counter-based, keyed by seed and number)."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))


class Windows:
    """Windows of `context` tokens in random order, each once per epoch; every epoch has another random offset."""

    def __init__(self, tokens: int, context: int, rows: int, seed: int):
        self.tokens, self.context, self.rows, self.seed = tokens, context, rows, seed
        self.windows = max(1, (tokens - context + 1) // context)
        self.steps_per_epoch = self.windows / rows
        self._epoch = lru_cache(2)(self._shuffled)  # a batch may lie in two epochs

    def starts(self, step: int) -> np.ndarray:
        """(rows,): where the stretches of a step begin."""
        numbers = range(step * self.rows, (step + 1) * self.rows)
        return np.array([self._epoch(n // self.windows)[n % self.windows] for n in numbers])

    def is_fresh(self, step: int) -> bool:
        """Always: no state is carried over."""
        return True

    def _shuffled(self, epoch: int) -> np.ndarray:
        draw = generator(self.seed, epoch)
        phase = draw.integers(0, self.tokens - self.windows * self.context + 1)
        return phase + self.context * draw.permutation(self.windows)


class Contiguous:
    """The text as `rows` equal columns, each read from its beginning to its end, `context` tokens at a time."""

    def __init__(self, tokens: int, context: int, rows: int, seed: int):
        self.context, self.rows, self.seed = context, rows, seed
        self.length = tokens // rows
        self.steps_per_epoch = max(1, (self.length - context + 1) // context)
        self._phase = lru_cache(2)(self._drawn)

    def starts(self, step: int) -> np.ndarray:
        epoch, place = divmod(step, self.steps_per_epoch)
        return np.arange(self.rows) * self.length + self._phase(epoch) + place * self.context

    def _drawn(self, epoch: int) -> int:
        """Where the columns of an epoch begin."""
        return int(generator(self.seed, epoch).integers(0, self.length - self.steps_per_epoch * self.context + 1))

    def is_fresh(self, step: int) -> bool:
        """Whether an epoch begins: the state from before belongs to other text."""
        return step % self.steps_per_epoch == 0


def cut(ids: np.ndarray, starts: np.ndarray, length: int, *, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows, length) ids that are read and those that are wanted; after an end, and before the text, <s> is read."""
    places = starts[:, None] + np.arange(-1, length)
    found = ids[np.maximum(places, 0)].astype(np.int64)
    wanted, before = found[:, 1:].copy(), found[:, :-1].copy()
    before[(before == end) | (places[:, :-1] < 0)] = start
    return before, wanted


def once(tokens: int, context: int, rows: int, *, carries: bool) -> Iterator[tuple[np.ndarray, int, bool]]:
    """(starts, length, fresh) of batches that have every token once.

    In columns where a state is carried, otherwise window by window; what is left over by itself.
    """
    context = min(context, tokens)
    whole = tokens // context
    rows = min(rows, whole)
    if carries:
        step = tokens // rows
        for place in range(0, step, context):
            yield np.arange(rows) * step + place, min(context, step - place), place == 0
        rest = rows * step
    else:
        for first in range(0, whole, rows):
            yield np.arange(first, min(first + rows, whole)) * context, context, True
        rest = whole * context
    if rest < tokens:
        yield np.array([rest]), tokens - rest, True
