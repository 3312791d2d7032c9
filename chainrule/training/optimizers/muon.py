"""Muon: momentum whose matrices are made orthogonal, beside AdamW for all that is not a hidden matrix."""

from __future__ import annotations

from collections.abc import Callable

import torch

from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate, fused, groups

NOT_HIDDEN = {"embedding", "head", "position"}


@part
class Muon(torch.optim.Optimizer):
    """b ← μ b + (1−μ) g,  w ← w − η (0.2 √max(rows, columns) · orthogonal((1−μ) g + μ b) + λ w) for hidden matrices.

    Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; scaled to the size of AdamW's steps
    (Liu et al. 2025, arXiv:2502.16982, §2.2), so that one learning rate serves both. `torch.optim.Muon` underneath.
    """

    def __init__(self, named: Named, *, rate: float = 2e-3, momentum: float = 0.95, weight_decay: float = 0.1,
                 beta1: float = 0.9, beta2: float = 0.95, epsilon: float = 1e-8):
        named = [(name, p) for name, p in named if p.requires_grad]
        hidden = [p for name, p in named if p.ndim == 2 and not NOT_HIDDEN & set(name.split("."))]
        rest = [(name, p) for name, p in named if not any(p is each for each in hidden)]
        check_rate("muon.rate", rate)
        self.parts: list[torch.optim.Optimizer] = []
        if hidden:
            self.parts.append(torch.optim.Muon(hidden, lr=rate, momentum=momentum, weight_decay=weight_decay,
                                               adjust_lr_fn="match_rms_adamw"))
        if rest:
            self.parts.append(torch.optim.AdamW(groups(rest, weight_decay), lr=rate, betas=(beta1, beta2), eps=epsilon,
                                                fused=fused(rest)))
        super().__init__([{"params": [p for _, p in named]}], {"lr": rate})
        self.param_groups = [group for each in self.parts for group in each.param_groups]

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None
        for each in self.parts:
            each.step()
