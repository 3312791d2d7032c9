"""Multi-head attention to another sequence: a source to translate, an image to describe."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from chainrule.errors import OptionError, UsageError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._dot_product import attend, hide, split_heads
from chainrule.parts.state import Reading
from chainrule.recipe.registry import part


@dataclass(frozen=True)
class Source:
    """The source's keys and values (B, H, S, E), which of them are real (B, S); None before it has been looked at."""

    keys: Tensor | None = None
    values: Tensor | None = None
    real: Tensor | None = None


@part
class CrossAttention(nn.Module):
    r"""Every token looks at another sequence: a source to translate, an image to describe.

    y_t = W_o [head₁ … head_H],   head = Σ_s softmax_s(q_t·k_s / √E) v_s   with keys and values from the source

    Vaswani et al. 2017, arXiv:1706.03762, §3.2.3; the idea is Bahdanau, Cho & Bengio's, 2015, arXiv:1409.0473. The
    source is projected once, at the first token; the state keeps it. Maps inward start as N(0, 1/D), W_o as
    N(0, 1/(D · depth)), biases at 0.
    """

    def __init__(self, width: int, depth: int, *, heads: int = 4, bias: bool = False, dropout: float = 0.0):
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError("CrossAttention.heads", heads, f"a divisor of width {width}")
        if not 0 <= dropout < 1:
            raise OptionError("CrossAttention.dropout", dropout, "at least 0 and less than 1")
        self.heads, self.dropout = heads, dropout
        self.query = Linear(width, width, bias=bias)
        self.inward = Linear(width, 2 * width, bias=bias)
        self.outward = Linear(width, width, bias=bias, depth=depth)

    def start(self, batch: int, room: int, like: Tensor) -> Source:
        return Source()

    def forward(self, x: Tensor, state: Source | None, reading: Reading) -> tuple[Tensor, Source]:
        source = state if state is not None and state.keys is not None else self._projected(reading)
        assert source.keys is not None and source.values is not None
        q = split_heads(self.query(x), self.heads)
        y = attend(q, source.keys, source.values, None if source.real is None else hide(source.real, q), causal=False,
                   dropout=self.dropout if self.training else 0.0)
        return self.outward(y.transpose(1, 2).flatten(2)), source

    def _projected(self, reading: Reading) -> Source:
        if reading.source is None:
            raise UsageError("cross-attention has no source to look at. Take x out of model.pattern, or choose a task "
                             "that has one.")
        k, v = split_heads(self.inward(reading.source), 2 * self.heads).chunk(2, dim=1)
        return Source(k, v, reading.real_source())
