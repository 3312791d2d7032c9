"""The rows of one step of training, whatever the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainrule.models.given import Given

IGNORED = -100  # a target that counts for nothing, such as padding
ARRAYS = ("inputs", "targets", "lengths", "source", "source_lengths")


@dataclass(frozen=True)
class Batch:
    """Inputs and targets, row by row; NumPy arrays until they are sent to the device."""

    inputs: Any  # (B, T)
    targets: Any  # (B, T), or one for each row
    count: int  # targets that are not IGNORED
    fresh: bool = True  # no state is carried over from the batch before
    state: Any = None  # what the rows have read before
    lengths: Any = None  # (B,) real inputs of each row; None where no row is padded
    source: Any = None  # (B, S, …) what the rows are given: a text to translate, an image to describe
    source_lengths: Any = None  # (B,) real inputs of each source
    pace: float = 1.0  # what share of the learning rate the step takes

    @staticmethod
    def of(inputs: np.ndarray, targets: np.ndarray, *, fresh: bool = True) -> Batch:
        """With its targets counted."""
        return Batch(inputs, targets, int((targets != IGNORED).sum()), fresh)

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def tokens(self) -> int:
        """Inputs that are not padding, of the sources too: what budgets and speeds count."""
        own = self.inputs.shape[0] * self.inputs.shape[1] if self.lengths is None else int(self.lengths.sum())
        if self.source is None:
            return own
        return own + (self.source.shape[0] * self.source.shape[1] if self.source_lengths is None else
                      int(self.source_lengths.sum()))

    @property
    def given(self) -> Given | None:
        """The source, as a network takes it."""
        return None if self.source is None else Given(self.source, self.source_lengths)

    def rows(self, begin: int, end: int) -> Batch:
        """Some of the rows, before they are sent; the caller keeps their state."""
        return replace(self._each(lambda array: array[begin:end]),
                       count=int((self.targets[begin:end] != IGNORED).sum()))

    def going_on(self, state: Any) -> Batch:
        """The same with the state carried over, unless the batch is fresh."""
        return self if self.fresh else replace(self, state=state)

    def sent(self, send: Callable[[np.ndarray], Any], state: Any) -> Batch:
        """The same on the model's device, with the state of its rows."""
        return replace(self._each(send), state=state)

    def _each(self, change: Callable[[Any], Any]) -> Batch:
        """The same with each array changed."""
        return replace(self, **{name: change(array) for name in ARRAYS if (array := getattr(self, name)) is not None})
