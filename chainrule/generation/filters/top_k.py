"""Top-k: only the k likeliest tokens."""

from __future__ import annotations

from chainrule.errors import OptionError
from chainrule.generation.ranking import keep, largest
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class TopK:
    """Keeps the k likeliest tokens; of equally likely ones those with the lowest ids.

    Fan, Lewis & Dauphin 2018, arXiv:1805.04833, §5.4.
    """

    def __init__(self, *, k: int = 40):
        if k < 1:
            raise OptionError("top_k", k, "at least 1")
        self.k = k

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array:
        if self.k >= log_p_BV.shape[1]:
            return log_p_BV
        return keep(log_p_BV, largest(log_p_BV, self.k)[:, -1:], self.k)
