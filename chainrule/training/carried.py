"""The state that goes on from one step to the next: taken apart by rows, put together, saved and restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

from chainrule.parts.state import pick


def rows(state: Any, begin: int, end: int, device: torch.device) -> Any:
    """Some rows of a state."""
    return None if state is None else pick(state, torch.arange(begin, end, device=device))


def joined(pieces: Sequence[Any], like: Any) -> Any:
    """The states of several stretches of rows as one, without history and in the precision that `like` has."""
    if like is None:
        return None
    groups = zip(leaves(like), *map(leaves, pieces), strict=True)
    return restored(pieces[0], [torch.cat([each.detach() for each in group]).to(old.dtype)
                                if isinstance(old, Tensor) else group[0] for old, *group in groups])


def leaves(state: Any) -> Iterator[Any]:
    """The tensors and numbers of a state, in a fixed order."""
    if isinstance(state, Tensor | int | float):
        yield state
    elif isinstance(state, tuple | list):
        for item in state:
            yield from leaves(item)
    elif is_dataclass(state):
        for field in fields(state):
            yield from leaves(getattr(state, field.name))


def restored(like: Any, values: Sequence[Any]) -> Any:
    """A state of the same make with other tensors and numbers."""
    return _filled(like, iter(values))


def _filled(like: Any, values: Iterator[Any]) -> Any:
    if isinstance(like, Tensor):
        return next(values)
    if isinstance(like, int | float):
        return type(like)(next(values))
    if isinstance(like, tuple | list):
        return type(like)(_filled(item, values) for item in like)
    if is_dataclass(like) and not isinstance(like, type):
        return replace(like, **{f.name: _filled(getattr(like, f.name), values) for f in fields(like)})
    return like
