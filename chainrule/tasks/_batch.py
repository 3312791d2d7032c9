"""The rows of one step of training, whatever the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

IGNORED = -100  # a target that counts for nothing, such as padding


@dataclass(frozen=True)
class Batch:
    """Inputs and targets, row by row; NumPy arrays until they are sent to the device."""

    inputs: Any  # (B, T)
    targets: Any  # (B, T), or one for each row
    count: int  # targets that are not IGNORED
    fresh: bool = True  # no state is carried over from the batch before
    state: Any = None  # what the rows have read before
    lengths: Any = None  # (B,) real inputs of each row; None where no row is padded

    @staticmethod
    def of(inputs: np.ndarray, targets: np.ndarray, *, fresh: bool = True) -> Batch:
        """With its targets counted."""
        return Batch(inputs, targets, int((targets != IGNORED).sum()), fresh)

    def __len__(self) -> int:
        return len(self.inputs)

    def rows(self, begin: int, end: int) -> Batch:
        """Some of the rows, before they are sent; the caller keeps their state."""
        return replace(Batch.of(self.inputs[begin:end], self.targets[begin:end], fresh=self.fresh),
                       lengths=None if self.lengths is None else self.lengths[begin:end])

    def going_on(self, state: Any) -> Batch:
        """The same with the state carried over, unless the batch is fresh."""
        return self if self.fresh else replace(self, state=state)

    def sent(self, send: Callable[[np.ndarray], Any], state: Any) -> Batch:
        """The same on the model's device, with the state of its rows."""
        return replace(self, inputs=send(self.inputs), targets=send(self.targets), state=state,
                       lengths=None if self.lengths is None else send(self.lengths))
