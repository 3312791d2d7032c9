"""No positions: for models that know time by themselves."""

from chainrule.parts.positions._position import Position
from chainrule.recipe.registry import part


@part
class NoPosition(Position):
    """No positions: for models that know time by themselves.

    Recurrence, convolution and windows need none, and causal attention works without (Haviv et al. 2022,
    arXiv:2203.16634).
    """
