"""Dynamic hyper-connections: several residual streams, whose connections depend on what is in them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make
from chainrule.parts.wirings.hyper_connections import HyperConnections
from chainrule.recipe.registry import part


@part
class DynamicHyperConnections(HyperConnections):
    r"""Hyper-connections whose weights also depend on the streams, token by token.

    a_i = a⁰_i + s tanh(n_i·w),   A_ij = A⁰_ij + s tanh(n_i·W_j),   b_i = b⁰_i + s′ tanh(n_i·v),   n_i = norm(x_i)

    Zhu et al. 2024, arXiv:2409.19606, §2: the dynamic kind. All else, and a⁰, A⁰ and b⁰, as in `hyper_connections`; w,
    W and v start at 0, so that it starts as the static kind, and the numbers s and s′ at 0.01.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make, *, streams: int = 4):
        super().__init__(place, norm, dropout, streams=streams)
        self.of_streams = norm()
        self.maps = nn.Parameter(torch.zeros(streams + 2, place.width))  # w, the columns of W, v
        self.scales = nn.Parameter(torch.full((2,), 0.01))  # s, s′

    def connections(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        read, mix, write = super().connections(x)
        found = nn.functional.linear(self.of_streams(x), self.maps).tanh().to(x.dtype)
        s, more = self.scales.to(x.dtype).unbind()
        return read + s * found[..., 0], mix + s * found[..., 1:-1], write + more * found[..., -1]
