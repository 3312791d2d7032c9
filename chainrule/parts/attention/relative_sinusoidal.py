"""Attention with relative positions that are waves: the query is compared with the wave of each distance."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.attention._relative_waves import attend_by_waves
from chainrule.parts.place import Place
from chainrule.parts.positions._waves import frequencies
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class RelativeSinusoidal(nn.Module):
    r"""Every key is weighed by its likeness to the query, and by what the query wants from the wave of its distance.

    y_i = Σ_j softmax_j((q_i·k_j + q_i·r_{i−j}) / √E) v_j,   r_{d,2n} = sin(ω_n d),   r_{d,2n+1} = cos(ω_n d)

    Wang et al. 2021, "On position embeddings in BERT" (ICLR 2021), §3, fixed sinusoidal relative positions, for keys
    only, as Shaw et al. 2018, arXiv:1803.02155, add learned ones. ω_n = base^(−2n/E). Nothing is learned, and no
    distance is too far.
    """

    memory: int | None = None  # all keys can be seen
    within_one_text = True  # queries and keys must have positions in common

    def __init__(self, place: Place, *, base: float = 10_000.0):
        super().__init__()
        self.base, self.dropout = base, place.dropout

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        return attend_by_waves(q, k, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0,
                               frequency=frequencies(q.shape[-1], self.base, q.device, q.dtype))
