"""How much arithmetic a token costs in training: for budgets in FLOPs, and for curves over them."""

from __future__ import annotations

from typing import Any

from chainrule.models.cost.counting import counted


def training_flops_per_token(model: Any, context: int) -> float:
    """Forward and backward of a stack and its head, as `chainrule cost` counts them: matrix products, no norms."""
    return sum(part.training for part in counted(model.shape, len(model.embedding.weight), context))
