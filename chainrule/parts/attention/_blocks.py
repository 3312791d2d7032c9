"""A long text in blocks: each block of queries looks at the keys around it and a few others, not at all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.reading import NOWHERE, Reading


@dataclass(frozen=True)
class Blocks:
    """Which keys a block of queries gets: its own, those of the block before, of a reader of both sides those after it,
    the `first` keys of the text, and the blocks that its row of `others` (N, R) names, where −1 is none.

    No key may be there twice: `first` ones that are near are hidden, `others` must be elsewhere. The first queries of a
    reader of both sides see all keys.
    """

    size: int
    first: int = 0
    others: Tensor | None = None

    def attend(self, plain: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, positions: Tensor,
               reading: Reading) -> Tensor:
        """What `plain` gives for whole texts, positions (1, T), whose queries see only some keys: (B, H, T, E).

        Blocks of queries are rows of a larger batch. `plain` gets the positions of all keys and hides those that a
        query must not see.
        """
        batch, time, more = len(q), q.shape[2], -q.shape[2] % self.size
        where = F.pad(positions, (0, more), value=NOWHERE - 1)  # a query that is not there sees what is not there, too
        blocks = [F.pad(each, (0, 0, 0, more)) for each in (q, k, v)]
        k_pos = self._places(where, reading.causal)
        rows = [_near(blocks[0], self.size, (0, 0)), *(self._keys(each, reading.causal) for each in blocks[1:])]
        count = len(k_pos)
        q_pos, k_pos = where.view(count, self.size).repeat(batch, 1), k_pos.repeat(batch, 1)
        lengths = None if reading.lengths is None else reading.lengths.repeat_interleave(count)
        y = plain(*(each.flatten(0, 1) for each in rows), q_pos, k_pos,
                  replace(reading, lengths=lengths, positions=q_pos, memo={}))
        y = y.unflatten(0, (batch, count)).transpose(1, 2).flatten(2, 3)[:, :, :time]
        if reading.causal or not self.first:
            return y
        of_first = plain(q[:, :, :self.first], k, v, positions[:, :self.first], positions, reading)
        return torch.cat([of_first, y[:, :, self.first:]], dim=2)

    def _around(self, causal: bool) -> tuple[int, int]:
        return self.size, 0 if causal else self.size

    def _places(self, where: Tensor, causal: bool) -> Tensor:
        """(N, K): the positions of the keys of each block."""
        around, own = self._around(causal), where.view(-1, self.size)
        found = [F.pad(where, around, value=NOWHERE).unfold(1, self.size + sum(around), self.size)[0]]
        if self.first:
            first = where[:, :self.first]
            found.append(torch.where(first >= own[:, :1] - self.size, NOWHERE, first))
        if self.others is not None:
            far = own[self.others.clamp(min=0)].masked_fill(self.others[:, :, None] < 0, NOWHERE)
            found.append(far.flatten(1))
        return torch.cat(found, dim=1)

    def _keys(self, x: Tensor, causal: bool) -> Tensor:
        """(B, H, T, E) to (B, N, H, K, E)."""
        found = [_near(x, self.size, self._around(causal))]
        if self.first:
            found.append(x[:, None, :, :self.first].expand(-1, found[0].shape[1], -1, -1, -1))
        if self.others is not None:
            far = x.unflatten(2, (-1, self.size)).index_select(2, self.others.clamp(min=0).flatten())
            found.append(far.unflatten(2, tuple(self.others.shape)).permute(0, 2, 1, 3, 4, 5).flatten(3, 4))
        return torch.cat(found, dim=3) if len(found) > 1 else found[0]


def _near(x: Tensor, size: int, around: tuple[int, int]) -> Tensor:
    """(B, H, T, E) to (B, N, H, size + around, E): each block with so many before and behind it."""
    return F.pad(x, (0, 0, *around)).unfold(2, size + sum(around), size).permute(0, 2, 1, 4, 3)
