"""Temperature: sharper below 1, flatter above."""

from __future__ import annotations

from chainrule.errors import OptionError
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class Temperature:
    """p(w) ∝ p(w)^(1/τ): τ → 0 approaches the single likeliest token, τ = 1 is the model itself.

    Ackley, Hinton & Sejnowski 1985, "A learning algorithm for Boltzmann machines", eq. 5.
    """

    def __init__(self, *, temperature: float = 1.0):
        if not 0 < temperature < float("inf"):
            raise OptionError("temperature", temperature, "a number above 0",
                              "For the likeliest token take the strategy greedy: --temperature 0.")
        self.temperature = temperature

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array:
        return log_p_BV / self.temperature
