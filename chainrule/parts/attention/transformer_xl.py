"""Transformer-XL's attention: content and distance are compared with the query, each with a bias of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.parts.attention._distances import by_vectors, from_the_furthest, skewed
from chainrule.parts.attention._relative_waves import turned_queries
from chainrule.parts.attention._scored import added_mask, with_scores
from chainrule.parts.place import Place
from chainrule.parts.positions._waves import frequencies, waves_of
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class TransformerXL(nn.Module):
    r"""Keys are weighed by content and by the projected wave of their distance, each with a bias that asks for it.

    y_i = Σ_j softmax_j(s_ij) v_j,   s_ij = ((q_i + u)·k_j + (q_i + w)·W r_{i−j}) / √E

    r_{d,2n} = sin(ω_n d),   r_{d,2n+1} = cos(ω_n d),   ω_n = base^(−2n/D)

    Dai et al. 2019, arXiv:1901.02860, §3.3, without the recurrence over segments (§3.2). u, w (there v) and W are of
    each sublayer; in the paper u and w are the same for all. W starts as N(0, 1/D), u and w as N(0, deviation²).
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # queries and keys must have positions in common

    def __init__(self, place: Place, *, base: float = 10_000.0, deviation: float = 0.02):
        super().__init__()
        self.base, self.waves, self.dropout = base, place.width + place.width % 2, place.dropout
        self.for_content, self.for_distance = (
            nn.Parameter(torch.randn(place.heads, 1, place.head_width) * deviation) for _ in range(2))
        self.weight = nn.Parameter(torch.randn(place.heads, place.head_width, self.waves) * self.waves**-0.5)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        frequency, asking = frequencies(self.waves, self.base, q.device, q.dtype), q + self.for_distance
        if q_pos is k_pos and len(q_pos) == 1:
            wanted_BHQK = self._of_a_text(asking, frequency, reading.causal)
        else:
            wanted_BHQK = self._at_any(asking, q_pos, k_pos, frequency)
        mask = added_mask(q, q_pos, k_pos, reading)
        return with_scores(wanted_BHQK * q.shape[-1]**-0.5, q + self.for_content, k, v, mask,
                           self.dropout if self.training else 0.0)

    def _of_a_text(self, asking: Tensor, frequency: Tensor, causal: bool) -> Tensor:
        """The wave of every distance is projected once."""
        distance = from_the_furthest(asking.shape[2], causal, asking.device)
        wave_RD = waves_of(distance, frequency).to(asking.dtype)
        return skewed(by_vectors(asking, wave_RD @ self.weight.transpose(-1, -2)), causal)

    def _at_any(self, asking: Tensor, q_pos: Tensor, k_pos: Tensor, frequency: Tensor) -> Tensor:
        """For a few queries: projected back and turned by their positions, they meet the waves at the keys'."""
        turned = turned_queries(asking @ self.weight, q_pos, frequency)
        return turned @ waves_of(k_pos, frequency).to(asking.dtype)[:, None].transpose(-1, -2)
