"""Examples of a modality, encoded, with a target each: what tasks on rows of any length train on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._known import Known
from chainrule.tasks._order import generator
from chainrule.tasks._rows import Examples

STREAM = 0x696E7075  # so that changes of the inputs and the order of the examples use different random numbers


@dataclass(frozen=True)
class ExamplesRead:
    """What a task has read: examples to train and to validate on, and what a run keeps."""

    known: Known
    train: Encoded
    valid: Encoded | None

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return int(self.train.lengths.sum())


@dataclass(frozen=True)
class Encoded:
    """Inputs as arrays, and the target of each; `targets` makes an array of those of some examples."""

    arrays: Sequence[np.ndarray]
    wanted: Sequence[Any]
    targets: Callable[[Sequence[Any]], np.ndarray]

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(each) for each in self.arrays], np.int64)

    def examples(self, modality: Any, facts: Any, seed: int) -> Examples:
        """For batches; in training, `modality` may change inputs at random."""
        def collate(numbers: np.ndarray, batch: int) -> Batch:
            draw = generator(seed ^ STREAM, batch) if batch >= 0 else None
            inputs, lengths = modality.batch([self.arrays[n] for n in numbers], facts, draw)
            targets = self.targets([self.wanted[n] for n in numbers])
            return Batch(inputs, targets, int((targets != IGNORED).sum()), lengths=lengths)

        return Examples(self.lengths, collate)
