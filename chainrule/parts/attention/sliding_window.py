"""Sliding-window attention: the nearest keys only, and a cache no longer than the window."""

from __future__ import annotations

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
class SlidingWindow(nn.Module):
    r"""Each query sees itself and the `window` − 1 keys before it; a reader of both sides also those after it.

    y_i = Σ_j softmax_j(q_i·k_j / √E) v_j   over   i − window < j ≤ i

    Beltagy, Peters & Cohan 2020, arXiv:2004.05150, §3.1. A long text is read in blocks of the window's length, each
    beside the one before it, and of a reader of both sides the one after it: T · 2 (or 3) window scores instead of T².
    """

    small = {"window": 3}  # to be tried on a short text

    def __init__(self, place: Place, *, window: int = 128):
        super().__init__()
        if window < 1:
            raise OptionError("SlidingWindow.window", window, "at least 1", "1 lets a token see only itself.")
        self.window, self.dropout = window, place.dropout
        self.memory = window  # keys that the next query can still see, itself included

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        whole = q_pos is k_pos and len(q_pos) == 1
        if whole and q.shape[2] > (2 if reading.causal else 3) * self.window and not watched():
            return self._in_blocks(q, k, v, q_pos, reading)
        return self._plain(q, k, v, q_pos, k_pos, reading)

    def _plain(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        gap_BQK = q_pos[:, :, None] - k_pos[:, None, :]
        near_BQK = (gap_BQK >= 0) & (gap_BQK < self.window) if reading.causal else gap_BQK.abs() < self.window
        mask, _ = mask_of(q, q_pos, k_pos, reading, seen=near_BQK)
        return attend(q, k, v, mask, causal=False, dropout=self.dropout if self.training else 0.0)

    def _in_blocks(self, q: Tensor, k: Tensor, v: Tensor, positions: Tensor, reading: Reading) -> Tensor:
        return Blocks(self.window).attend(self._plain, q, k, v, positions, reading)
