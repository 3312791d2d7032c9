"""Adam with weight decay apart from the gradient."""

import torch

from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate, fused, groups


@part
class AdamW(torch.optim.AdamW):
    """m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  w ← w − η (m̂ / (√v̂ + ε) + λ w),  λ on matrices only.

    Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2.
    """

    def __init__(self, named: Named, *, rate: float = 1e-3, beta1: float = 0.9, beta2: float = 0.95,
                 epsilon: float = 1e-8, weight_decay: float = 0.1):
        named = list(named)
        super().__init__(groups(named, weight_decay), lr=check_rate("adamw.rate", rate), betas=(beta1, beta2),
                         eps=epsilon, fused=fused(named))
