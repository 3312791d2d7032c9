"""Stochastic depth: in training, rows skip sublayers at random."""

from __future__ import annotations

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.parts.wirings._wiring import Make
from chainrule.recipe.registry import part


@part
class StochasticDepth(PreNormed):
    r"""Pre-norm in which each row skips a sublayer at random in training, a late one more often than an early one.

    y = x + b/(1 − r) dropout(f(norm(x))),   b = 0 with the probability r = rate · (index + 1)/depth, otherwise 1

    Huang et al. 2016, arXiv:1603.09382, eq. 4 (linear decay). Departures: rows are drawn by themselves, not the whole
    batch; what is kept is divided by 1 − r in training, as dropout does, in the place of a factor in evaluation, where
    it is pre-norm. The sublayer is still computed for all rows. The stack ends with one more norm.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make, *, rate: float = 0.2):
        super().__init__(place, norm, dropout)
        if not 0 <= rate < 1:
            raise OptionError("StochasticDepth.rate", rate, "at least 0 and below 1")
        self.rate = rate * (place.index + 1) / place.depth

    def written(self, y: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return y
        kept = torch.rand(len(y), *[1] * (y.dim() - 1), device=y.device) >= self.rate
        return y * (kept / (1 - self.rate)).to(y.dtype)
