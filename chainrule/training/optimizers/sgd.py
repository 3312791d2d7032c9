"""Stochastic gradient descent."""

import torch

from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate, fused, groups


@part
class SGD(torch.optim.SGD):
    """w ← w − η (g + λ w),  λ on matrices only.

    Robbins & Monro 1951.
    """

    def __init__(self, named: Named, *, rate: float = 1.0, weight_decay: float = 0.0):
        named = list(named)
        super().__init__(groups(named, weight_decay), lr=check_rate("sgd.rate", rate), fused=fused(named))
