"""Scores by the distance of query and key: a vector for each distance up to some furthest, compared with the query."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import OptionError


@dataclass(frozen=True)
class Distances:
    """The distances i − j that have a number of their own: from 0 on for a causal reader, otherwise either way."""

    furthest: int  # what is further away counts as this far
    causal: bool

    @classmethod
    def up_to(cls, owner: str, furthest: int, causal: bool) -> Distances:
        if furthest < 1:
            raise OptionError(f"{owner}.furthest", furthest, "at least 1", "1 tells a token from all before it.")
        return cls(furthest, causal)

    @property
    def least(self) -> int:
        return 0 if self.causal else -self.furthest

    @property
    def count(self) -> int:
        return self.furthest - self.least + 1

    def numbers(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """(B or 1, Q, K): the number of the distance of each query and key."""
        return (q_pos[:, :, None] - k_pos[:, None, :]).clamp(self.least, self.furthest) - self.least

    def scores(self, q: Tensor, table: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """(B, H, Q, K): q_i·r_{i−j}, r from a table (H or 1, count, E)."""
        if q_pos is k_pos and len(q_pos) == 1:  # the positions of a text from some place on, one after the other
            return self.skewed(q, table)
        return gathered(q, table, self.numbers(q_pos, k_pos))

    def skewed(self, q: Tensor, table: Tensor) -> Tensor:
        """The same for a whole text; above a causal reader's diagonal stands anything."""
        distance = from_the_furthest(q.shape[2], self.causal, q.device).clamp(self.least, self.furthest)
        return skewed(by_vectors(q, table[:, distance - self.least]), self.causal)


def by_vectors(q: Tensor, table: Tensor) -> Tensor:
    """(B, H, Q, R): each query with each vector of its head, (H or 1, R, E)."""
    return q @ table.transpose(-1, -2)


def gathered(q: Tensor, table: Tensor, number_BQK: Tensor) -> Tensor:
    """(B, H, Q, K): each query with the vector whose number stands at a pair."""
    return by_vectors(q, table).gather(-1, number_BQK[:, None].expand(*q.shape[:3], number_BQK.shape[2]))


def from_the_furthest(time: int, causal: bool, device: torch.device) -> Tensor:
    """The distances i − j in a text, the largest first: T − 1 … 0, or to 1 − T."""
    return torch.arange(time - 1, (0 if causal else 1 - time) - 1, -1, device=device)


def skewed(by_distance: Tensor, causal: bool) -> Tensor:
    """(B, H, T, distances from the furthest on) to (B, H, T, T); above a causal reader's diagonal stands anything.

    A row of scores by distance is one place further right for each query before it; a column of padding and another
    shape of the same numbers moves them there (Huang et al. 2018, arXiv:1809.04281, §3.4).
    """
    rows, heads, time = by_distance.shape[:3]
    if causal:
        return F.pad(by_distance, (1, 0)).view(rows, heads, time + 1, time)[:, :, 1:]
    flat = F.pad(F.pad(by_distance, (0, 1)).view(rows, heads, 2 * time * time), (0, max(0, time - 1)))
    return flat.view(rows, heads, time + 1, 2 * time - 1)[:, :, :time, time - 1:]
