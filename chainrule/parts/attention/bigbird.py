"""BigBird: blocks of the text see their neighbors, the first blocks, and a few at random."""

from __future__ import annotations

from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.attention._blocks import Blocks
from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import watched


@part
class BigBird(nn.Module):
    r"""Each block of the text sees itself, its neighbors, the first blocks, which see all, and some blocks at random.

    y_i = Σ_j softmax_j(q_i·k_j / √E) v_j   over the keys j of the blocks that the block of i sees

    Zaheer et al. 2020, arXiv:2007.14062, §2 and appendix D: window of three blocks, global blocks, random blocks. A
    causal reader sees of them what came before, and its random blocks are drawn from those. They are drawn for all of
    `model.context` once, by `seed` and the number of the sublayer; a shorter text has only those within it. A long text
    is read block by block.
    """

    memory: int | None = None  # any key can be seen again
    within_one_text = True  # queries and keys must have positions in common
    small = {"block": 2, "random_blocks": 1}  # to be tried on a short text
    others: Tensor  # (N, R): the random blocks of each; −1: there are not so many

    def __init__(self, place: Place, *, block: int = 64, global_blocks: int = 1, random_blocks: int = 3, seed: int = 0):
        super().__init__()
        for name, value, least in (("block", block, 1), ("global_blocks", global_blocks, 0),
                                   ("random_blocks", random_blocks, 0)):
            if value < least:
                raise OptionError(f"BigBird.{name}", value, f"at least {least}")
        self.block, self.first, self.dropout = block, global_blocks * block, place.dropout
        self.drawn = drawn(-(-place.context // block), global_blocks, random_blocks, place.causal,
                           Random(f"{seed} {place.index}"))
        self.register_buffer("others", torch.tensor(self.drawn, dtype=torch.long), persistent=False)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        few = (3 + self.others.shape[1]) * self.block + self.first
        if q_pos is k_pos and len(q_pos) == 1 and q.shape[2] > few and not watched():
            return self._in_blocks(q, k, v, q_pos, reading)
        return self._plain(q, k, v, q_pos, k_pos, reading)

    def _plain(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        gap_BQK, last = q_pos[:, :, None] - k_pos[:, None, :], len(self.others) - 1
        sees_NN = self._sees()
        q_block, k_block = ((each // self.block).clamp(max=last) for each in (q_pos, k_pos))
        seen_BQK = sees_NN[q_block[:, :, None], k_block[:, None, :]] & (k_pos < (last + 1) * self.block)[:, None]
        if reading.causal:
            seen_BQK = seen_BQK & (gap_BQK >= 0)
        mask, _ = mask_of(q, q_pos, k_pos, reading, seen=seen_BQK | (gap_BQK == 0))
        return attend(q, k, v, mask, causal=False, dropout=self.dropout if self.training else 0.0)

    def _sees(self) -> Tensor:
        """(N, N): which blocks each block sees, later ones included."""
        number = torch.arange(len(self.others), device=self.others.device)
        near_NN = (number[:, None] - number).abs() <= 1
        first = number * self.block < self.first
        return near_NN | first | first[:, None] | (self.others[:, :, None] == number).any(1)

    def _in_blocks(self, q: Tensor, k: Tensor, v: Tensor, positions: Tensor, reading: Reading) -> Tensor:
        count = -(-q.shape[2] // self.block)
        others = self.others[:count]
        there = others.masked_fill(others >= count, -1) if others.shape[1] else None
        return Blocks(self.block, self.first, there).attend(self._plain, q, k, v, positions, reading)

    def _apply(self, fn: Any, recurse: bool = True) -> BigBird:
        """What was drawn comes along also to where a model is made without numbers."""
        super()._apply(fn, recurse)
        self.others = torch.tensor(self.drawn, dtype=torch.long, device=self.others.device)
        return self


def drawn(blocks: int, first: int, count: int, causal: bool, random: Random) -> list[list[int]]:
    """For each block `count` others, neither neighbors nor among the first; −1 where there are not so many."""
    found = []
    for n in range(blocks):
        far = [m for m in range(first, n if causal else blocks) if abs(m - n) > 1]
        some = random.sample(far, min(count, len(far)))
        found.append(sorted(some) + [-1] * (count - len(some)))
    return found
