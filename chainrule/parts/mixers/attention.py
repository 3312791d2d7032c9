"""Multi-head attention over the sequence itself, with a cache for one token at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._dot_product import attend, hide, split_heads
from chainrule.parts.state import Reading
from chainrule.recipe.registry import part


@dataclass(frozen=True)
class Cache:
    """Keys and values so far, in room for more: (B, H, room, E); the first `length` are filled."""

    keys: Tensor
    values: Tensor
    length: int


@dataclass(frozen=True)
class FixedCache:
    """The same with shapes that never change, for compilers and CUDA graphs: the next key goes to place `at`, (1,)."""

    keys: Tensor
    values: Tensor
    at: Tensor


@part
class Attention(nn.Module):
    r"""Every token looks at itself and those before it, with several heads at once.

    y_t = W_o [head₁ … head_H],   head = Σ_j softmax_j(q_t·k_j / √E) v_j

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1; with fewer `groups` of keys and values than heads, Ainslie et al.
    2023, arXiv:2305.13245. The cache belongs here; positions come from outside. Maps inward start as N(0, 1/D), W_o as
    N(0, 1/(D · depth)), biases at 0. `dropout` is of the weights.
    """

    def __init__(self, width: int, depth: int, *, heads: int = 4, groups: int | None = None, bias: bool = False,
                 dropout: float = 0.0):
        super().__init__()
        groups = heads if groups is None else groups
        if heads < 1 or width % heads:
            raise OptionError("Attention.heads", heads, f"a divisor of width {width}")
        if groups < 1 or heads % groups:
            raise OptionError("Attention.groups", groups, f"a divisor of heads {heads}")
        if not 0 <= dropout < 1:
            raise OptionError("Attention.dropout", dropout, "at least 0 and less than 1")
        self.heads, self.groups, self.head_width, self.dropout = heads, groups, width // heads, dropout
        self.inward = Linear(width, (heads + 2 * groups) * self.head_width, bias=bias)
        self.outward = Linear(width, width, bias=bias, depth=depth)

    def start(self, batch: int, room: int, like: Tensor) -> Cache:
        """An empty cache; it grows by itself when `room` is too small."""
        empty = like.new_zeros(batch, self.groups, room, self.head_width)
        return Cache(empty, torch.zeros_like(empty), 0)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any]:
        if isinstance(state, FixedCache):
            return self._step(x, state, reading), state
        assert state is None or reading.causal, "a reader of both sides needs the whole sequence at once"
        projected = split_heads(self.inward(x), self.heads + 2 * self.groups)
        if reading.position.turns:
            offset = state.length if state is not None else 0
            q_pos = torch.arange(offset, offset + x.shape[1], device=x.device)
            turned, v = projected.split([self.heads + self.groups, self.groups], dim=1)
            q, k = reading.position.turn(turned, q_pos).split([self.heads, self.groups], dim=1)
        else:
            q, k, v = projected.split([self.heads, self.groups, self.groups], dim=1)
        if state is not None:
            state = longer(state, k, v)
            k, v = state.keys[:, :, :state.length], state.values[:, :, :state.length]
        y = self._attend(q, k, v, reading)
        return self.outward(y.transpose(1, 2).flatten(2)), state

    def _step(self, x: Tensor, state: FixedCache, reading: Reading) -> Tensor:
        """One token of each row; it sees all places up to its own, and the cache is written in place."""
        turned, v = split_heads(self.inward(x), self.heads + 2 * self.groups).split(
            [self.heads + self.groups, self.groups], dim=1)
        q, k = reading.position.turn(turned, state.at).split([self.heads, self.groups], dim=1)
        state.keys.index_copy_(2, state.at, k.to(state.keys.dtype))
        state.values.index_copy_(2, state.at, v.to(state.values.dtype))
        k_pos = torch.arange(state.keys.shape[2], device=x.device)
        mask = q.new_zeros(1, len(k_pos)).masked_fill(k_pos > state.at, -torch.inf)
        if reading.position.biases:
            mask = mask + reading.position.bias(state.at, k_pos, True).to(q.dtype)
        y = attend(q, state.keys.to(q.dtype), state.values.to(q.dtype), mask, causal=False)
        return self.outward(y.transpose(1, 2).flatten(2))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, reading: Reading) -> Tensor:
        """The queries are at the last positions of the keys."""
        mask = None
        if reading.position.biases:
            mask = reading.position.bias(*positions(q, k), reading.causal).to(q.dtype)
        real = reading.real(k.shape[2])
        if not reading.causal and real is not None:  # a causal reader never looks at the padding behind it
            mask = hide(real, q) if mask is None else mask + hide(real, q)
        whole = q.shape[2] == k.shape[2]
        causal = reading.causal and q.shape[2] > 1  # a single query is the last: it sees every key
        if causal and (mask is not None or not whole):
            q_pos, k_pos = positions(q, k)
            later_QK = k_pos[None, :] > q_pos[:, None]
            mask = (q.new_zeros(later_QK.shape) if mask is None else mask).masked_fill(later_QK, -torch.inf)
        return attend(q, k, v, mask, causal=causal and mask is None, dropout=self.dropout if self.training else 0.0)


def positions(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """(Q,) and (K,): where the keys are, and the queries among the last of them."""
    k_pos = torch.arange(k.shape[2], device=k.device)
    return k_pos[k.shape[2] - q.shape[2]:], k_pos


def longer(cache: Cache, k: Tensor, v: Tensor) -> Cache:
    """The cache with more keys and values written behind the others; its room doubles when it is full."""
    length, room = cache.length + k.shape[2], cache.keys.shape[2]
    keys, values = cache.keys, cache.values
    if length > room:
        more = (0, 0, 0, max(length, 2 * room) - room)
        keys, values = F.pad(keys, more), F.pad(values, more)
    keys[:, :, cache.length:length] = k
    values[:, :, cache.length:length] = v
    return Cache(keys, values, length)
