"""Linear attention: the weight of a pair is a product of features, so the past is a sum of fixed size."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.mixers._kernel_attention import KernelAttention
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class LinearAttention(KernelAttention):
    r"""Attention without a softmax, whose past is one matrix for each head: a recurrent network that trains at once.

    y_i = φ(q_i)ᵀ S_i / φ(q_i)·z_i,   S_i = S_{i−1} + φ(k_i) v_iᵀ,   z_i = z_{i−1} + φ(k_i),   φ(x) = elu(x) + 1

    Katharopoulos et al. 2020, arXiv:2006.16236, eq. 7 and 9–12; read both ways, S and z are sums over all. A text costs
    T · E² and a token E². Rotary positions turn queries and keys before φ. Maps inward start as N(0, 1/D), W_o as
    N(0, 1/(D · depth)), biases at 0.
    """

    def __init__(self, place: Place, *, heads: int = 4, bias: bool = False):
        super().__init__(place, heads, bias)
        self.width_of_features = self.head_width

    def of_queries(self, q: Tensor) -> Tensor:
        return F.elu(q) + 1

    def of_keys(self, k: Tensor) -> Tensor:
        return F.elu(k) + 1
