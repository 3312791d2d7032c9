"""LayerScale: each number of a sublayer's output has a small learned factor."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.parts.wirings._wiring import Make
from chainrule.recipe.registry import part


@part
class LayerScale(PreNormed):
    r"""Pre-norm in which each number of a sublayer's output is multiplied by a learned factor that starts small.

    y = x + λ ⊙ dropout(f(norm(x))),   λ ∈ ℝᴰ, `initial` at first; the stack ends with one more norm

    Touvron et al. 2021 (CaiT), arXiv:2103.17239, §2, eq. 4; there λ starts at 0.1 up to 18 layers, at 10⁻⁵ for 24, at
    10⁻⁶ beyond. λ takes the place of the smaller first weights of deep stacks.
    """

    scales_with_depth = False

    def __init__(self, place: Place, norm: Make, dropout: Make, *, initial: float = 0.1):
        super().__init__(place, norm, dropout)
        if not initial:
            raise OptionError("LayerScale.initial", initial, "another number than 0", "For 0 there is rezero_norm.")
        self.scale = nn.Parameter(torch.full((place.width,), initial))

    def written(self, y: Tensor) -> Tensor:
        return self.scale.to(y.dtype) * y
