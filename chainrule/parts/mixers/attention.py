"""Multi-head attention over the sequence itself, with a cache for one token at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.state import Reading
from chainrule.registry import part
from chainrule.watching import note, watched


@dataclass(frozen=True)
class Cache:
    """Keys and values so far, in room for more: (B, H, room, E); the first `length` are filled."""

    keys: Tensor
    values: Tensor
    length: int


@part
class Attention(nn.Module):
    r"""y_t = W_o [head₁ … head_H],   head = Σ_j softmax_j(q_t·k_j / √E) v_j

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1; with fewer `groups` of keys and values than heads, Ainslie et al.
    2023, arXiv:2305.13245. The cache belongs here; positions come from outside.
    """

    def __init__(self, width: int, depth: int, *, heads: int = 4, groups: int | None = None, bias: bool = False):
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError("Attention.heads", heads, f"a divisor of width {width}")
        self.heads, self.groups, self.head_width = heads, groups or heads, width // heads
        if heads % self.groups:
            raise OptionError("Attention.groups", groups, f"a divisor of heads {heads}")
        self.inward = Linear(width, (heads + 2 * self.groups) * self.head_width, bias=bias)
        self.outward = Linear(width, width, bias=bias, depth=depth)

    def start(self, batch: int, room: int, like: Tensor) -> Cache:
        """An empty cache; it grows by itself when `room` is too small."""
        empty = like.new_zeros(batch, self.groups, room, self.head_width)
        return Cache(empty, torch.zeros_like(empty), 0)

    def forward(self, x: Tensor, state: Cache | None, reading: Reading) -> tuple[Tensor, Cache | None]:
        q, k, v = self._projected(x)
        offset = state.length if state is not None else 0
        q_pos = torch.arange(offset, offset + x.shape[1], device=x.device)
        q, k = reading.position.turn(q, q_pos), reading.position.turn(k, q_pos)
        if state is not None:
            state = _longer(state, k, v)
            k, v = state.keys[:, :, :state.length], state.values[:, :, :state.length]
        k_pos = torch.arange(k.shape[2], device=x.device)
        y = self._attend(q, k, v, q_pos, k_pos, reading)
        return self.outward(y.transpose(1, 2).flatten(2)), state

    def _projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, H, T, E) queries, (B, groups, T, E) keys and values."""
        split = [n * self.head_width for n in (self.heads, self.groups, self.groups)]
        q, k, v = (each.unflatten(-1, (-1, self.head_width)).transpose(1, 2)
                   for each in self.inward(x).split(split, -1))
        return q, k, v

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        bias = reading.position.bias(q_pos, k_pos)
        real = reading.real(k.shape[2])
        plain = bias is None and real is None
        if plain and not watched():
            whole = q.shape[2] == k.shape[2]
            if not reading.causal or whole or q.shape[2] == 1:
                return F.scaled_dot_product_attention(q, k, v, is_causal=reading.causal and whole and q.shape[2] > 1,
                                                      enable_gqa=self.groups != self.heads)
        mask = torch.zeros(q.shape[2], k.shape[2], dtype=q.dtype, device=q.device)
        if reading.causal:
            mask = mask.masked_fill(k_pos[None, :] > q_pos[:, None], -torch.inf)
        mask = mask if bias is None else mask + bias.to(q.dtype)
        if real is not None and not reading.causal:  # a causal reader never looks at the padding behind it
            mask = mask.expand(len(q), -1, -1, -1) if mask.dim() == 3 else mask.expand(len(q), 1, -1, -1)
            mask = mask.masked_fill(~real[:, None, None, :], -torch.inf)
        if not watched():
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=self.groups != self.heads)
        return self._plainly(q, k, v, mask)

    def _plainly(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """The equation as it stands; a fused kernel could not note the weights."""
        k, v = (t.repeat_interleave(self.heads // self.groups, dim=1) for t in (k, v))
        score_BHQK = torch.einsum("bhqe,bhke->bhqk", q, k) * self.head_width**-0.5 + mask
        weight_BHQK = score_BHQK.softmax(-1)
        note("attention", weight_BHQK)
        return torch.einsum("bhqk,bhke->bhqe", weight_BHQK, v)


def _longer(cache: Cache, k: Tensor, v: Tensor) -> Cache:
    """The cache with more keys and values written behind the others; its room doubles when it is full."""
    length, room = cache.length + k.shape[2], cache.keys.shape[2]
    keys, values = cache.keys, cache.values
    if length > room:
        more = (0, 0, 0, max(length, 2 * room) - room)
        keys, values = F.pad(keys, more), F.pad(values, more)
    keys[:, :, cache.length:length] = k
    values[:, :, cache.length:length] = v
    return Cache(keys, values, length)
