"""Top-p, the nucleus: the likeliest tokens that together have probability p."""

from __future__ import annotations

from chainrule.arrays import namespace, on_host
from chainrule.errors import OptionError
from chainrule.generation.ranking import keep, largest
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class TopP:
    """Keeps the smallest set of likeliest tokens whose probabilities sum to at least p; ties to the lowest ids.

    Holtzman et al. 2020, arXiv:1904.09751, eq. 2.
    """

    def __init__(self, *, p: float = 0.9):
        if not 0 < p <= 1:
            raise OptionError("top_p", p, "above 0 and at most 1", "1 keeps every token.")
        self.p = p

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array:
        if self.p == 1:
            return log_p_BV
        xp = namespace(log_p_BV)
        width = log_p_BV.shape[1]
        top_B1 = xp.max(log_p_BV, axis=1, keepdims=True)
        top_B1 = xp.where(top_B1 == -xp.inf, 0.0, top_B1)
        weight_BV = xp.exp(xp.astype(log_p_BV - top_B1, xp.float64))
        wanted_B1 = self.p * xp.sum(weight_BV, axis=1, keepdims=True)
        count = 512 if on_host(log_p_BV) else width  # the nucleus is mostly small: look among few, then among more
        while True:
            count = min(count, width)
            sorted_BK = largest(log_p_BV, count)  # of log p: half as wide as the weights, so sorted twice as fast
            reached_BK = xp.cumulative_sum(xp.exp(xp.astype(sorted_BK - top_B1, xp.float64)), axis=1)
            if count == width or bool(xp.all(reached_BK[:, -1:] >= wanted_B1)):
                break
            count *= 8
        size_B1 = xp.count_nonzero(reached_BK < wanted_B1, axis=1, keepdims=True) + 1
        size_B1 = xp.minimum(size_B1, xp.full_like(size_B1, count))
        least_B1 = xp.take_along_axis(sorted_BK, size_B1 - 1, axis=1)
        return xp.where(weight_BV > 0, keep(log_p_BV, least_B1, size_B1), -xp.inf)
