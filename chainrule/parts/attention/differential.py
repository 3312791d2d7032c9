"""Differential attention: the difference of two attention maps, so that what both see by mistake cancels."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import mask_of
from chainrule.parts.attention._scored import added_mask, for_each_head, scaled_dot
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note, watched


@part
class Differential(nn.Module):
    r"""One attention map minus a share of another, so that what both see by mistake cancels.

    y_i = (1 − λ₀) g ⊙ rms(Σ_j (softmax_j(q¹_i·k¹_j / √(E/2)) − λ softmax_j(q²_i·k²_j / √(E/2))) v_j)

    λ = exp(a₁·b₁) − exp(a₂·b₂) + λ₀,   λ₀ = 0.8 − 0.6 exp(−0.3 l)   for layer l = 0, 1, …

    Ye et al. 2024, arXiv:2410.05258, §2. A head's queries and keys are two halves, its values one whole, so `heads` is
    half of what it would be for `full` at the same width of a query. The halves are every second number, which keeps
    the pairs that rotary positions turn. l is the number of the sublayer divided by two. One λ for all heads; a and b
    (E/2 numbers) start as N(0, 0.1²), g at 1.
    """

    memory: int | None = None  # all keys can be seen

    def __init__(self, place: Place, *, epsilon: float = 1e-5):
        super().__init__()
        if place.head_width % 4:
            raise OptionError("Differential.head_width", place.head_width, "a multiple of 4",
                              "It is model.width divided by heads: change one of them.")
        self.first, self.epsilon = 0.8 - 0.6 * math.exp(-0.3 * (place.index // 2)), epsilon
        self.dropout = place.dropout
        self.factors = nn.Parameter(torch.randn(2, 2, place.head_width // 2) * 0.1)
        self.gain = nn.Parameter(torch.ones(place.head_width))

    def share(self) -> Tensor:
        """λ."""
        one, other = self.factors.prod(1).sum(-1).exp()
        return one - other + self.first

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        share, dropout = self.share(), self.dropout if self.training else 0.0
        if watched():
            y = self._noted(q, k, v, added_mask(q, q_pos, k_pos, reading), share, dropout)
        else:
            mask, causal = mask_of(q, q_pos, k_pos, reading)
            one, other = (attend(half, k, v, mask, causal=causal, dropout=dropout) for half in halves(q))
            y = one - share.to(other.dtype) * other
        return F.rms_norm(y, y.shape[-1:], self.gain.to(y.dtype), self.epsilon) * (1 - self.first)

    def _noted(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, share: Tensor, dropout: float) -> Tensor:
        """The same with both maps in memory; what is noted as attention is their difference."""
        scores = [scaled_dot(half, k) for half in halves(q)]
        one, other = (each.softmax(-1) if mask is None else (each + mask).softmax(-1) for each in scores)
        note("attention", one - share * other)
        weight_BHQK = F.dropout(one, dropout) - share * F.dropout(other, dropout)
        return (weight_BHQK @ for_each_head(v, q.shape[1])).to(v.dtype)


def halves(q: Tensor) -> tuple[Tensor, Tensor]:
    """Queries with zeros in the place of every second number, and of the others: then all of a key may be compared.

    Narrower queries and keys than values would keep the fastest kernels from being used. √2 makes 1/√E to 1/√(E/2).
    """
    odd = torch.arange(q.shape[-1], device=q.device) % 2 == 1
    return q.masked_fill(odd, 0) * 2**0.5, q.masked_fill(~odd, 0) * 2**0.5
