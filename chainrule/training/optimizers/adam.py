"""Adam: steps of the size of the learning rate, whatever the gradient's size."""

import torch

from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate, fused, groups


@part
class Adam(torch.optim.Adam):
    """m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  w ← w − η m̂ / (√v̂ + ε)

    Kingma & Ba 2015, arXiv:1412.6980, algorithm 1.
    """

    def __init__(self, named: Named, *, rate: float = 1e-3, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8):
        named = list(named)
        super().__init__(groups(named, 0.0), lr=check_rate("adam.rate", rate), betas=(beta1, beta2), eps=epsilon,
                         fused=fused(named))
