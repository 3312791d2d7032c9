"""Attention whose weights are products of features: sums of keys and values stand for all that was read."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.attention._masks import refuse_bias
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._heads import check_heads, merge_heads, split_heads
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.watching import note, watched

CHUNK = 64  # tokens between two sums that are kept in training
LEAST = 1e-6  # added to the sum of weights


@dataclass(frozen=True)
class Sums:
    """Σ_j φ(k_j) [v_j; 1]ᵀ over all that was read, (B, H, features, E + 1): values, and behind them the keys alone."""

    total: Tensor


class KernelAttention(nn.Module):
    r"""y_i = Σ_j φ(q_i)·φ(k_j) v_j / Σ_j φ(q_i)·φ(k_j), where the sums over j ≤ i are a state of fixed size.

    A kind of it says what φ makes of queries and of keys, (B, H, T, E) to (B, H, T, features), all at least 0. A causal
    text is read in chunks: within one by weights of pairs, between them by sums, of which there is one for each chunk.
    """

    width_of_features: int

    def __init__(self, place: Place, heads: int, bias: bool):
        super().__init__()
        check_heads(type(self).__name__, place.width, heads, 0.0)
        self.heads, self.head_width = heads, place.width // heads
        self.inward = Linear(place.width, 3 * place.width, bias=bias)
        self.outward = Linear(place.width, place.width, bias=bias, depth=place.depth)

    def of_queries(self, q: Tensor) -> Tensor:
        raise NotImplementedError

    def of_keys(self, k: Tensor) -> Tensor:
        raise NotImplementedError

    def start(self, batch: int, room: int, like: Tensor) -> Sums:
        exact = torch.promote_types(like.dtype, torch.float32)  # sums over a long text are not for half precision
        return Sums(like.new_zeros(batch, self.heads, self.width_of_features, self.head_width + 1, dtype=exact))

    def forward(self, x: Tensor, state: Sums | None, reading: Reading) -> tuple[Tensor, Sums | None]:
        assert state is None or reading.causal, "a reader of both sides needs the whole sequence at once"
        refuse_bias(reading, type(self).__module__.rpartition(".")[2])
        projected = split_heads(self.inward(x), 3 * self.heads)
        turned, v = projected.split([2 * self.heads, self.heads], dim=1)
        if reading.position.turns:
            turned = reading.position.turn(turned, reading.positions)
        exact = torch.promote_types(x.dtype, torch.float32)
        q, k = turned.to(exact).chunk(2, dim=1)
        q, k, v = self.of_queries(q), self.of_keys(k), F.pad(v.to(exact), (0, 1), value=1.0)
        if reading.causal:
            y, total = causally(q, k, v, None if state is None else state.total)
        else:
            k = k if (real := reading.real(x.shape[1])) is None else k * real[:, None, :, None]
            y, total = q @ (k.transpose(-1, -2) @ v), None
        if watched():
            self._note(q, k, None if state is None else total, reading.causal)
        y = merge_heads(y[..., :-1] / (y[..., -1:] + LEAST)).to(x.dtype)
        return self.outward(y), None if state is None or total is None else Sums(total)

    def _note(self, q: Tensor, k: Tensor, total: Tensor | None, causal: bool) -> None:
        """The weights that it never makes; where there is a state, not all keys are known any more."""
        if total is not None:
            note("sums", total)
            return
        weight_BHQK = q @ k.transpose(-1, -2)
        weight_BHQK = weight_BHQK.tril() if causal else weight_BHQK
        note("attention", weight_BHQK / (weight_BHQK.sum(-1, keepdim=True) + LEAST))

    def stream_weights(self) -> list[Tensor]:
        """The weights between values and the residual stream: not those of queries and keys."""
        return [self.inward.weight[2 * self.outward.in_features:], self.outward.weight]


def causally(q: Tensor, k: Tensor, v: Tensor, before: Tensor | None, chunk: int = CHUNK) -> tuple[Tensor, Tensor]:
    """Σ_{j ≤ i} (q_i·k_j) v_j for every i, and Σ_j k_j v_jᵀ over all, with the sum `before` these in both.

    q and k are (B, H, T, F), v (B, H, T, E). Memory is T · chunk + T/chunk · F · E for each head, not T · F · E.
    """
    time = q.shape[2]
    chunk = min(chunk, max(1, time))
    q, k, v = (F.pad(each, (0, 0, 0, -time % chunk)).unflatten(2, (-1, chunk)) for each in (q, k, v))
    within = (q @ k.transpose(-1, -2)).tril() @ v
    sums = k.transpose(-1, -2) @ v  # (B, H, chunks, F, E)
    until = sums.cumsum(2) if before is None else sums.cumsum(2) + before[:, :, None]
    y = within + q @ (until - sums)
    return y.flatten(2, 3)[:, :, :time], until[:, :, -1]
