"""Examples of different lengths in batches of like length: labeled texts, tagged sentences, pairs, recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.tasks._batch import Batch
from chainrule.tasks._order import generator

POOL = 64  # batches that are drawn at random together and then sorted: within them lengths are alike


@dataclass(frozen=True)
class Examples:
    """Examples to train on or to validate on."""

    lengths: np.ndarray  # (N,), or (N, 2) where each has a source and a target
    collate: Callable[[np.ndarray, int], Batch]  # (numbers of examples, number of the batch): padded arrays

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> np.ndarray:
        """(N,): of each example, its source included."""
        return self.lengths if self.lengths.ndim == 1 else self.lengths.sum(axis=1)


class ByLength:
    """Every example once an epoch, in batches of like length; a pure function of seed and step.

    With `most` tokens a batch, padding included, all examples are sorted by length, and equally long ones are shuffled.
    With `rows` a batch they are sorted only within pools that are drawn at random, so that a batch is not of one length
    in every epoch. The batches themselves come in random order.
    """

    def __init__(self, lengths: np.ndarray, rows: int, most: int | None, seed: int):
        self.lengths = lengths.reshape(len(lengths), -1)
        self.rows, self.most, self.seed = rows, most, seed
        order = np.lexsort(self.lengths.T)
        self.bounds = self._bounds(order)  # the same in every epoch: sorted lengths are
        self.steps_per_epoch = len(self.bounds) - 1
        self._epoch = lru_cache(2)(self._shuffled)

    def batch(self, step: int) -> np.ndarray:
        """The numbers of the examples of a step."""
        epoch, place = divmod(step, self.steps_per_epoch)
        order, batches = self._epoch(epoch)
        number = batches[place]
        return order[self.bounds[number]:self.bounds[number + 1]]

    def _shuffled(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        draw = generator(self.seed, epoch)
        shuffled = draw.permutation(len(self.lengths))
        if self.most is not None:
            order = shuffled[np.lexsort(self.lengths[shuffled].T)]
        else:
            pools = np.arange(len(shuffled)) // (self.rows * POOL)
            order = shuffled[np.lexsort((*self.lengths[shuffled].T, pools))]
        return order, draw.permutation(self.steps_per_epoch)

    def _bounds(self, order: np.ndarray) -> np.ndarray:
        """Where batches begin and end in the sorted order."""
        if self.most is None:
            return np.append(np.arange(0, len(order), self.rows), len(order))
        found, longest = [0], np.zeros(self.lengths.shape[1], np.int64)
        for place, own in enumerate(self.lengths[order]):
            longest = np.maximum(longest, own)
            if place > found[-1] and (place + 1 - found[-1]) * int(longest.sum()) > self.most:
                found.append(place)
                longest = own.astype(np.int64)
        return np.array([*found, len(order)])

    def areas(self) -> np.ndarray:
        """(batches,): tokens of each batch of the first epoch, padding included."""
        order, _ = self._epoch(0)
        return np.array([(b - a) * int(self.lengths[order[a:b]].max(axis=0).sum())
                         for a, b in zip(self.bounds, self.bounds[1:], strict=False)])


class RowBatches:
    """A `TrainingData` over examples: what each step reads, and what is validated on."""

    carries, fixed = False, False

    def __init__(self, known: Any, train: Examples, valid: Examples | None, plan: Any):
        if not len(train):
            raise DataError("there are no examples to train on.")
        self.known, self.train, self.valid, self.plan = known, train, valid, plan
        self.order = ByLength(train.lengths, min(plan.batch, len(train)), plan.batch_tokens, plan.seed)
        areas, sizes = self.order.areas(), np.diff(self.order.bounds)
        self.rows = int(sizes.max())
        self.context = max(1, -(-int(areas.max()) // self.rows))  # rows × context is the largest batch
        self.tokens = int(train.tokens.sum())
        self.padding = 1 - self.tokens / int(areas.sum())  # share of the inputs
        self.steps_per_epoch = float(self.order.steps_per_epoch)
        self.tokens_per_step = max(1, round(self.tokens / self.steps_per_epoch))
        self._held_out = self._measured_on()
        self.evaluation_tokens = 0 if valid is None else int(valid.tokens[self._held_out].sum())

    def batch(self, step: int) -> Batch:
        return self.train.collate(self.order.batch(step), step)

    def validation(self, rows: int) -> Iterator[Batch]:
        """Examples by length; so many of the longest that they fit where a batch of training does."""
        if self.valid is None:
            return
        kept = self._held_out
        order = ByLength(self.valid.lengths[kept], rows, rows * self.context, 0)
        for number in range(order.steps_per_epoch):
            yield self.valid.collate(kept[order.batch(number)], -1 - number)

    def measured(self, loss: float) -> Mapping[str, float]:
        return {}

    def measured_in_validation(self, loss: float) -> Mapping[str, float]:
        return {}

    def _measured_on(self) -> np.ndarray:
        """The numbers of the examples that an evaluation reads: all, or a fixed sample of so many tokens."""
        if self.valid is None:
            return np.zeros(0, np.int64)
        order = generator(self.plan.seed, 2**63).permutation(len(self.valid))
        enough = np.cumsum(self.valid.tokens[order]) <= self.plan.evaluate_tokens
        return np.sort(order[:max(1, int(enough.sum()))])
