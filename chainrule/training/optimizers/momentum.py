"""Gradient descent with momentum: the heavy ball, or Nesterov's."""

import torch

from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate, fused, groups


@part
class Momentum(torch.optim.SGD):
    """b ← μ b + g + λ w,  w ← w − η b  (nesterov: w ← w − η (g + λ w + μ b)),  λ on matrices only.

    Polyak 1964; Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning".
    """

    def __init__(self, named: Named, *, rate: float = 0.1, momentum: float = 0.9, nesterov: bool = False,
                 weight_decay: float = 0.0):
        named = list(named)
        super().__init__(groups(named, weight_decay), lr=check_rate("momentum.rate", rate), momentum=momentum,
                         nesterov=nesterov, fused=fused(named))
