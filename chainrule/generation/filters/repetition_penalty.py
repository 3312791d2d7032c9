"""Repetition penalty: tokens already read become less likely."""

from __future__ import annotations

from chainrule.arrays import mark, namespace, sent
from chainrule.errors import OptionError
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class RepetitionPenalty:
    """p(w) ∝ p(w)^θ for the tokens in the prompt or in the text so far; θ = 1 changes nothing.

    Keskar et al. 2019, arXiv:1909.05858, §4.1. Departure: they divide logits, whose sign depends on an arbitrary
    shift, by θ; here ln p, which is never positive, is multiplied by θ.
    """

    def __init__(self, *, penalty: float = 1.2):
        if not 1 <= penalty < float("inf"):
            raise OptionError("repetition_penalty", penalty, "at least 1", "1 changes nothing; 1.2 is usual.")
        self.penalty = penalty

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array:
        xp = namespace(log_p_BV)
        seen_BV = xp.zeros_like(log_p_BV, dtype=xp.bool)
        mark(seen_BV, sent(ids_BT, log_p_BV))
        return xp.where(seen_BV, log_p_BV * self.penalty, log_p_BV)
