"""Hyper-connections: several residual streams, and a learned choice of what is read from and written to each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import without_autocast
from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring
from chainrule.recipe.registry import part


@part
class HyperConnections(Wiring):
    r"""Several streams: a sublayer reads a learned mixture of them and adds to each as much as it has learned to.

    h = Σ_i a_i x_i,   x_j ← Σ_i A_ij x_i + b_j dropout(f(norm(h)));   the streams begin alike and are summed at the end

    Zhu et al. 2024, arXiv:2409.19606, §2: the static kind. At first a is 1 for one stream (the sublayer's index modulo
    `streams`) and 0 for the others, A is the identity and b is 1, so all streams are that of pre-norm. The stack ends
    with one more norm.
    """

    ends_with_norm = True

    def __init__(self, place: Place, norm: Make, dropout: Make, *, streams: int = 4):
        super().__init__()
        if streams < 1:
            raise OptionError("HyperConnections.streams", streams, "at least 1")
        self.streams = streams
        read = torch.arange(streams) == place.index % streams
        self.read = nn.Parameter(read.to(torch.get_default_dtype()))
        self.mix = nn.Parameter(torch.eye(streams).flatten())  # a vector, since weight decay is for matrices
        self.write = nn.Parameter(torch.ones(streams))
        self.norm, self.dropout = norm(), dropout()

    def open(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, T, streams, D)."""
        return x.unsqueeze(-2).expand(*x.shape[:-1], self.streams, x.shape[-1])

    def close(self, x: Tensor) -> Tensor:
        return x.sum(-2)

    def connections(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """a (…, streams), A (…, streams, streams) and b (…, streams) for a stream (B, T, streams, D)."""
        mix = self.mix.view(self.streams, self.streams)
        return self.read.to(x.dtype), mix.to(x.dtype), self.write.to(x.dtype)

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        read, mix, write = self.connections(x)
        y, state = sublayer(self.norm((read[..., None] * x).sum(-2)))
        with without_autocast(x):  # a stream is not rounded at each sublayer
            mixed = mix.mT @ x
        return mixed + write[..., None] * self.dropout(y).unsqueeze(-2), state
