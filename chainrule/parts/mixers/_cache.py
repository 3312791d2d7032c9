"""The key-value cache of attention: all keys and values that can still be seen."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.reading import NOWHERE, Reading


@dataclass(frozen=True)
class Cache:
    """Keys, then values of each position (B, room, vectors, E); the positions show how much a row has read.

    Position t lies at place t, or t modulo the room where only the last keys are kept; some first ones may be kept
    beside them. Both are one tensor, and all that is new of a position lies together: writing takes half as long as to
    two, where a single token is read.
    """

    entries: Tensor


def empty(batch: int, room: int, vectors: int, head_width: int, like: Tensor) -> Cache:
    """Nothing read yet; a position has so many vectors, its keys and values."""
    return Cache(like.new_zeros(batch, room, vectors, head_width))


def extended(cache: Cache, new: Tensor, reading: Reading) -> tuple[Tensor, Tensor, Cache]:
    """All keys and values that may be seen, their positions (B or 1, K), and the cache with the new ones in it.

    `new` is (B, T, vectors, E). The room doubles where the reading needs more; it is written in place.
    """
    assert reading.positions is not None
    time, span, entries = new.shape[1], reading.span, cache.entries
    if span is not None and span > entries.shape[1]:
        entries = F.pad(entries, (0, 0, 0, 0, 0, max(span, 2 * entries.shape[1]) - entries.shape[1]))
    if reading.even and span is not None:
        entries[:, span - time:span] = new
    else:
        _write(entries, new, reading, 0, in_place=True)
    if span == time:  # nothing was read before
        return new, reading.positions, Cache(entries)
    seen = entries.shape[1] if span is None else span
    k_pos = reading.once(("places", seen), lambda: torch.arange(seen, device=new.device)[None])
    return entries[:, :seen], k_pos, Cache(entries)


def rolled(cache: Cache, new: Tensor, reading: Reading, first: int = 0) -> tuple[Tensor, Tensor, Cache]:
    """The same where only the last keys can be seen, and perhaps the `first` ones: a new one takes the oldest's place.

    Several new ones are looked at beside the old ones, which the first of them still see.
    """
    assert reading.positions is not None
    time, room, positions = new.shape[1], cache.entries.shape[1], reading.positions
    if time == 1:
        entries = _write(cache.entries, new, reading, first, in_place=not torch.is_grad_enabled())
        return entries, reading.once(("rolled", room, first),
                                     lambda: _positions(positions + 1, room, first)), Cache(entries)
    beside = torch.cat([cache.entries.to(new.dtype), new], dim=1)
    k_pos = torch.cat([_positions(positions[:, :1], room, first), positions], dim=1)
    after = _positions(positions[:, -1:] + 1, room, first)
    old = torch.arange(room, device=new.device)
    index = torch.where((after >= positions[:, :1]) & (after != NOWHERE), room + after - positions[:, :1], old)
    entries = beside.gather(1, index[:, :, None, None].expand(len(new), room, *new.shape[2:]))
    return beside, k_pos, Cache(entries.to(cache.entries.dtype))


def _positions(lengths_B1: Tensor, room: int, first: int) -> Tensor:
    """(B, room): which position lies at each place after so many were read."""
    places, newest = torch.arange(room, device=lengths_B1.device), lengths_B1 - 1
    last = newest - (newest - places) % (room - first)  # the last position that falls on a place, if it is not a first
    there = torch.where(places < first, places <= newest, last >= first)
    return torch.where(there, torch.where(places < first, places, last), NOWHERE)


def _write(entries: Tensor, new: Tensor, reading: Reading, first: int, *, in_place: bool) -> Tensor:
    """All positions of the reading, `new` (B, T, vectors, E), at their places."""
    assert reading.positions is not None
    batch, time, room, positions = len(new), new.shape[1], entries.shape[1], reading.positions

    def flat() -> Tensor:
        rows = torch.arange(batch, device=new.device)[:, None] * room
        places = positions % room if not first else (
            torch.where(positions < first, positions, first + (positions - first) % (room - first)))
        return (rows + places).reshape(batch * time)

    target, size = entries if in_place else entries.clone(), entries.shape[2] * entries.shape[3]
    target.view(batch * room, size).index_copy_(0, reading.once(("rows", batch, room, time, first), flat),
                                                new.to(entries.dtype).reshape(batch * time, size))
    return target
