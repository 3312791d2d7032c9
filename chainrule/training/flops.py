"""How much arithmetic a token costs, for budgets in FLOPs."""

from __future__ import annotations

from typing import Any


def training_flops_per_token(model: Any, context: int) -> float:
    """6 N + 12 · (attention sublayers) · width · context: forward and backward; N without what is only looked up.

    Kaplan et al. 2020, arXiv:2001.08361, §2.1; the attention term of Chowdhery et al. 2022, arXiv:2204.02311, app. B.
    """
    looked_up = {"embedding.weight", "position.weight"}
    used: int = sum(p.numel() for name, p in model.named_parameters() if name not in looked_up)
    if all(model.head.weight is not p for name, p in model.named_parameters() if name not in looked_up):
        used += model.head.weight.numel()  # tied: the head multiplies by what is looked up
    attending = sum(letter in "sx" for letter in model.letters)
    return 6.0 * used + 12.0 * attending * model.shape.width * context
