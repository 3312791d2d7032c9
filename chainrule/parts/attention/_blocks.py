"""A long text in blocks: each block of queries looks at the keys around it and a few others, not at all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.reading import NOWHERE, Reading

Plain = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Reading], Tensor]


def in_blocks(plain: Plain, q: Tensor, k: Tensor, v: Tensor, positions: Tensor, reading: Reading, size: int, *,
              first: int = 0, others: Tensor | None = None) -> Tensor:
    """What `plain` gives for whole texts (positions (1, T)) whose queries see only some keys: (B, H, T, E).

    Blocks of queries are rows of a larger batch. Each has its own keys, those of the block before, of a reader of both
    sides those of the block after; the `first` keys of the text; and the blocks that its row of `others` (N, R) names,
    where −1 is none. No key may be there twice: `first` ones that are near are hidden, `others` must be elsewhere.
    `plain` gets the positions of all keys and hides those that a query must not see.
    """
    batch, time = len(q), q.shape[2]
    around, more = (size, 0 if reading.causal else size), -time % size
    where = F.pad(positions, (0, more), value=NOWHERE - 1)  # a query that is not there sees what is not there, too
    starts = F.pad(where, around, value=NOWHERE).unfold(1, size + sum(around), size)[0]
    q, k, v = (F.pad(each, (0, 0, 0, more)) for each in (q, k, v))
    keys, places = [_near(each, size, around) for each in (k, v)], [starts]
    count = len(starts)
    if first:
        where_first = where[:, :first]
        near = where_first >= where.view(count, size)[:, :1] - size
        places.append(torch.where(near, NOWHERE, where_first))
        keys = [torch.cat([own, each[:, None, :, :first].expand(-1, count, -1, -1, -1)], dim=3)
                for own, each in zip(keys, (k, v), strict=True)]
    if others is not None:
        found = where.view(count, size)[others.clamp(min=0)]
        places.append(found.masked_fill(others[:, :, None] < 0, NOWHERE).flatten(1))
        keys = [torch.cat([own, _picked(each, size, others)], dim=3) for own, each in zip(keys, (k, v), strict=True)]
    q_pos, k_pos = where.view(count, size).repeat(batch, 1), torch.cat(places, dim=1).repeat(batch, 1)
    lengths = None if reading.lengths is None else reading.lengths.repeat_interleave(count)
    rows = [each.flatten(0, 1) for each in (_near(q, size, (0, 0)), *keys)]
    y = plain(*rows, q_pos, k_pos, replace(reading, lengths=lengths, positions=q_pos, memo={}))
    return y.unflatten(0, (batch, count)).transpose(1, 2).flatten(2, 3)[:, :, :time]


def _near(x: Tensor, size: int, around: tuple[int, int]) -> Tensor:
    """(B, H, T, E) to (B, N, H, size + around, E): each block with so many before and behind it."""
    return F.pad(x, (0, 0, *around)).unfold(2, size + sum(around), size).permute(0, 2, 1, 4, 3)


def _picked(x: Tensor, size: int, others: Tensor) -> Tensor:
    """(B, H, T, E) to (B, N, H, R · size, E): for each block some others."""
    blocks = x.unflatten(2, (-1, size)).index_select(2, others.clamp(min=0).flatten())
    return blocks.unflatten(2, tuple(others.shape)).permute(0, 2, 1, 3, 4, 5).flatten(3, 4)


def with_first(y: Tensor, plain: Plain, q: Tensor, k: Tensor, v: Tensor, positions: Tensor, reading: Reading,
               first: int) -> Tensor:
    """The outputs of blocks, but for the `first` queries, which see all keys of the text."""
    whole = plain(q[:, :, :first], k, v, positions[:, :first], positions, reading)
    return torch.cat([whole, y[:, :, first:]], dim=2)
