"""Performer: random positive features whose products are the softmax's weights on average."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.mixers._kernel_attention import KernelAttention
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Performer(KernelAttention):
    r"""Softmax attention on average, by random positive features, at a cost that grows with the text.

    y_i = Σ_j φ(q_i)·φ(k_j) v_j / Σ_j φ(q_i)·φ(k_j),   φ_n(x) = exp(w_n·x′ − ‖x′‖²/2) / √features,   x′ = x / E^¼

    Choromanski et al. 2021, arXiv:2009.14794, §2.3 and 2.4 (FAVOR+): E[φ(q)·φ(k)] = exp(q·k / √E) for w ~ N(0, 1), and
    orthogonal w, of which there are blocks of E, vary less. They are drawn once, by `seed` and the number of the
    sublayer, and not again while it trains, as in the paper; each query's features are divided by their largest, which
    changes no weight. `features` is E ln E if not given. The state is a matrix for each head. Maps inward start as
    N(0, 1/D), W_o as N(0, 1/(D · depth)), biases at 0.
    """

    directions: Tensor  # (features, E), in float32

    def __init__(self, place: Place, *, heads: int = 4, bias: bool = False, features: int | None = None, seed: int = 0):
        super().__init__(place, heads, bias)
        width = self.head_width
        features = max(1, round(width * math.log(max(width, 2)))) if features is None else features
        if features < 1:
            raise OptionError("Performer.features", features, "at least 1", "More of them vary less.")
        self.width_of_features, self.seed = features, (seed << 16) + place.index
        self.register_buffer("directions", orthogonal(features, width, self.seed).to(self.inward.weight.device),
                             persistent=False)

    def of_queries(self, q: Tensor) -> Tensor:
        score = self._exponents(q)
        return (score - score.amax(-1, keepdim=True).detach()).exp()

    def of_keys(self, k: Tensor) -> Tensor:
        return self._exponents(k).exp() * self.width_of_features**-0.5

    def _exponents(self, x: Tensor) -> Tensor:
        x = x * self.head_width**-0.25
        return x @ self.directions.to(x.dtype).T - x.square().sum(-1, keepdim=True) / 2

    def _apply(self, fn: Any, recurse: bool = True) -> Performer:
        """What was drawn comes along to another device, but never in another kind of number."""
        super()._apply(fn, recurse)
        self.directions = orthogonal(self.width_of_features, self.head_width, self.seed).to(
            self.directions.device)
        return self


def orthogonal(features: int, width: int, seed: int) -> Tensor:
    """(features, E): blocks of E orthogonal directions, as long as vectors of N(0, 1) are; in float32."""
    draw = torch.Generator("cpu").manual_seed(seed)
    blocks = torch.randn(-(-features // width), width, width, generator=draw, device="cpu")
    lengths = torch.randn(features, width, generator=draw, device="cpu").norm(dim=-1, keepdim=True)
    basis, upper = torch.linalg.qr(blocks)
    basis = basis * upper.diagonal(dim1=1, dim2=2).sign()[:, None]  # else the first number of a direction has one sign
    return basis.transpose(1, 2).flatten(0, 1)[:features] * lengths
