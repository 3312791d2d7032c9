"""Longformer: a sliding window, which may be dilated, and a few tokens that all see and that see all."""

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
class Longformer(nn.Module):
    r"""Each query sees a window of keys, every `dilation`-th of them, and the first tokens, which are seen by all.

    y_i = Σ_j softmax_j(q_i·k_j / √E) v_j   over   i − j ∈ {0, d, 2d, …, (window − 1) d}   and   j < global_tokens

    Beltagy, Peters & Cohan 2020, arXiv:2004.05150, §3.1. A reader of both sides has the same window after it, and there
    the global tokens see all. They are the first of a text, and compared by the same maps as all others; in the paper a
    task names them, and they have maps of their own. A causal cache keeps them beside the window. A long text is read
    in blocks of window · dilation.
    """

    small = {"window": 3, "global_tokens": 2}  # to be tried on a short text

    def __init__(self, place: Place, *, window: int = 128, dilation: int = 1, global_tokens: int = 1):
        super().__init__()
        for name, value, least in (("window", window, 1), ("dilation", dilation, 1),
                                   ("global_tokens", global_tokens, 0)):
            if value < least:
                raise OptionError(f"Longformer.{name}", value, f"at least {least}")
        self.window, self.dilation, self.first, self.dropout = window, dilation, global_tokens, place.dropout
        self.memory = (window - 1) * dilation + 1  # keys that the next query can still see, besides the first

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        whole, block = q_pos is k_pos and len(q_pos) == 1, self.window * self.dilation
        if whole and q.shape[2] > (2 if reading.causal else 3) * block + self.first and not watched():
            return self._in_blocks(q, k, v, q_pos, reading)
        return self._plain(q, k, v, q_pos, k_pos, reading)

    def _plain(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        gap_BQK = q_pos[:, :, None] - k_pos[:, None, :]
        seen_BQK = (gap_BQK.abs() < self.window * self.dilation) & (gap_BQK % self.dilation == 0)
        seen_BQK = seen_BQK | (k_pos < self.first)[:, None, :] | (q_pos < self.first)[:, :, None]
        if reading.causal:
            seen_BQK = seen_BQK & (gap_BQK >= 0)
        mask, _ = mask_of(q, q_pos, k_pos, reading, seen=seen_BQK)
        return attend(q, k, v, mask, causal=False, dropout=self.dropout if self.training else 0.0)

    def _in_blocks(self, q: Tensor, k: Tensor, v: Tensor, positions: Tensor, reading: Reading) -> Tensor:
        return Blocks(self.window * self.dilation, self.first).attend(self._plain, q, k, v, positions, reading)
