"""States of sublayers: records of tensors whose first axis is the row, each row with a length of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import ChainruleError


def leaves(state: Any) -> Iterator[Tensor]:
    """The tensors of a state, in a fixed order."""
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, tuple | list):
        for item in state:
            yield from leaves(item)
    elif is_dataclass(state) and not isinstance(state, type):
        for each in fields(state):
            yield from leaves(getattr(state, each.name))


def rebuilt(like: Any, tensors: Iterator[Tensor]) -> Any:
    """A state of the same make with other tensors."""
    if isinstance(like, Tensor):
        return next(tensors)
    if isinstance(like, tuple | list):
        return type(like)(rebuilt(item, tensors) for item in like)
    if is_dataclass(like) and not isinstance(like, type):
        return replace(like, **{f.name: rebuilt(getattr(like, f.name), tensors) for f in fields(like)})
    return like


def mapped(state: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The state with each tensor changed."""
    return rebuilt(state, map(change, leaves(state)))


def pick(state: Any, rows: Tensor) -> Any:
    """Independent copies of rows, as often and in the order asked for."""
    return mapped(state, lambda tensor: tensor.index_select(0, rows))


def join(states: Sequence[Any]) -> Any:
    """The rows of several states as one batch; shorter tensors are padded with zeros."""
    if len(states) == 1:
        return states[0]
    groups = list(zip(*map(leaves, states), strict=True))
    return rebuilt(states[0], map(_stacked, groups))


def detach(state: Any) -> Any:
    """The same values without their history: where back-propagation through time is cut."""
    return mapped(state, lambda tensor: tensor.detach())


def check(state: Any, rows: int, owner: str) -> None:
    """Refuses a state that `pick`, `join` and fixed-shape steps would copy wrongly, and says what is in it."""
    for name, value in _named(state):
        if not isinstance(value, Tensor):
            raise ChainruleError(f"the state of {owner} has {name or 'it'} = {value!r}, expected only tensors whose "
                                 "first axis is the row; a number for all rows is a tensor with a number for each.")
        if value.dim() < 1 or len(value) != rows:
            raise ChainruleError(f"the state of {owner} has {name or 'a tensor'} of the shape {tuple(value.shape)}, "
                                 f"expected the {rows} rows as its first axis.")


def _named(state: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a state that is not a record of other things."""
    if isinstance(state, tuple | list):
        for number, item in enumerate(state):
            yield from _named(item, f"{name}[{number}]")
    elif is_dataclass(state) and not isinstance(state, type):
        for each in fields(state):
            yield from _named(getattr(state, each.name), f"{name}.{each.name}".lstrip("."))
    elif state is not None:
        yield name, state


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    shape = [max(sizes) for sizes in zip(*(each.shape[1:] for each in tensors), strict=True)]
    return torch.cat([enlarged(each, shape) for each in tensors])


def enlarged(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """(rows, *shape): zeros behind what is there along each axis but the first."""
    if list(tensor.shape[1:]) == list(shape):
        return tensor
    more = [(0, wanted - there) for there, wanted in zip(tensor.shape[1:], shape, strict=True)]
    return F.pad(tensor, [size for pair in reversed(more) for size in pair])
