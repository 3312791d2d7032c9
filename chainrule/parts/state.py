"""States of sublayers: small records of tensors whose first axis is the batch."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Reading:
    """What a sublayer is told beside its input."""

    causal: bool = True  # a position sees only itself and what came before
    lengths: Tensor | None = None  # (B,) real tokens of each row; None where no row is padded
    source: Tensor | None = None  # (B, S, D) what cross-attention looks at
    source_lengths: Tensor | None = None  # (B,)
    position: Any = None  # the position part, for mixers that ask it

    def real(self, time: int) -> Tensor | None:
        """(B, T): which positions are not padding."""
        return _within(self.lengths, time)

    def real_source(self) -> Tensor | None:
        """(B, S): which positions of the source are not padding."""
        return None if self.source is None else _within(self.source_lengths, self.source.shape[1])


def _within(lengths: Tensor | None, time: int) -> Tensor | None:
    return None if lengths is None else torch.arange(time, device=lengths.device) < lengths[:, None]


def pick(state: Any, rows: Tensor) -> Any:
    """Independent copies of rows, whatever the state is made of; numbers are the same for all rows."""
    return _each(state, lambda tensor: tensor.index_select(0, rows))


def detach(state: Any) -> Any:
    """The same values without their history: where back-propagation through time is cut."""
    return _each(state, lambda tensor: tensor.detach())


def copy_into(state: Any, new: Any) -> None:
    """Writes a state's values into the tensors of another of its kind."""
    if isinstance(state, Tensor):
        state.copy_(new)
    elif isinstance(state, tuple | list):
        for mine, other in zip(state, new, strict=True):
            copy_into(mine, other)
    elif is_dataclass(state) and not isinstance(state, type):
        for each in fields(state):
            copy_into(getattr(state, each.name), getattr(new, each.name))


def _each(state: Any, change: Any) -> Any:
    if isinstance(state, Tensor):
        return change(state)
    if isinstance(state, tuple | list):
        return type(state)(_each(item, change) for item in state)
    if is_dataclass(state) and not isinstance(state, type):
        return replace(state, **{f.name: _each(getattr(state, f.name), change) for f in fields(state)})
    return state
