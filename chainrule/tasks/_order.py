"""The order in which a text is read: a pure function of seed and step, so that checkpoints need not store it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np


def generator(seed: int, number: int) -> np.random.Generator:
    """A generator of its own for each number (Salmon et al. 2011: counter-based, keyed by seed and number)."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))


class Even:
    """Stretches that are all as long as the context."""

    context: int
    rows: int

    @property
    def tokens_per_step(self) -> int:
        return self.rows * self.context

    def length_of(self, step: int) -> int:
        """Tokens of each row of a step."""
        return self.context

    def pace(self, step: int) -> float:
        """What share of the learning rate a step takes."""
        return 1.0


class Windows(Even):
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


class Contiguous(Even):
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


class Varied(Contiguous):
    """The same in stretches of different lengths, so that no token is always the first or the last of one.

    A length is drawn from N(⅞ C, (C/16)²) for a context of C, or by a chance of 1 in 20 from half of that, and no
    shorter than C/16 nor longer than C; then single tokens are added or taken away until an epoch fills the columns.
    Merity, Keskar & Socher 2018, arXiv:1708.02182, §4.2: C = 80 is their 70 ± 5.
    """

    SHORT = 0.05  # the chance of half the length

    def __init__(self, tokens: int, context: int, rows: int, seed: int):
        super().__init__(tokens, context, rows, seed)
        self.usual = 7 / 8 * context
        self.steps_per_epoch = min(self.length, max(1, round(self.length / (self.usual * (1 - self.SHORT / 2)))))
        self._bounds = lru_cache(2)(self._stretches)

    def starts(self, step: int) -> np.ndarray:
        epoch, place = divmod(step, self.steps_per_epoch)
        return np.arange(self.rows) * self.length + self._bounds(epoch)[place]

    @property
    def tokens_per_step(self) -> int:
        """On average."""
        return max(1, self.rows * self.length // self.steps_per_epoch)

    def length_of(self, step: int) -> int:
        epoch, place = divmod(step, self.steps_per_epoch)
        return int(self._bounds(epoch)[place + 1] - self._bounds(epoch)[place])

    def pace(self, step: int) -> float:
        """Of the learning rate: a short stretch has a less certain gradient."""
        return self.length_of(step) / self.usual

    def _stretches(self, epoch: int) -> np.ndarray:
        """Where the stretches of an epoch begin in a column, and where the last ends."""
        draw, steps = generator(self.seed, epoch), self.steps_per_epoch
        usual = np.where(draw.random(steps) < self.SHORT, self.usual / 2, self.usual)
        least, most = max(1, self.context // 16), self.context
        lengths = np.clip(draw.normal(usual, self.context / 16).round().astype(int), least, most)
        while left := self.length - int(lengths.sum()):
            able = np.flatnonzero(lengths < most if left > 0 else lengths > 1)
            if not len(able):
                break  # the column is longer than all stretches can be
            lengths[draw.permutation(able)[:abs(left)]] += np.sign(left)
        return np.concatenate([[0], np.cumsum(lengths)])


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
