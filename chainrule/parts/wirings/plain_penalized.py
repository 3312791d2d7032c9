"""Plain wiring whose last activations are kept small and slow by a loss of their own."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.losses import add_loss
from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer
from chainrule.parts.wirings.plain import Plain
from chainrule.recipe.registry import part


@part
class PlainPenalized(Plain):
    r"""One sublayer after the other; what leaves the last is penalized where it is large or changes fast.

    y = dropout(f(x)),   loss += α mean(y²) + β mean((f(x)_t − f(x)_{t−1})²)  of the last sublayer

    Activation regularization (`activation`, α) and temporal activation regularization (`temporal`, β): Merity, McCann &
    Socher 2017, arXiv:1708.01009, §3; with these α and β in Merity, Keskar & Socher 2018, arXiv:1708.02182, §4.6. The
    mean is over all numbers, as in the authors' code; the papers write norms. Padding counts as all else.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make, *, activation: float = 2.0, temporal: float = 1.0):
        super().__init__(place, norm, dropout)
        for option, value in (("activation", activation), ("temporal", temporal)):
            if value < 0:
                raise OptionError(f"PlainPenalized.{option}", value, "at least 0", "0 leaves it out.")
        self.activation, self.temporal = activation, temporal
        self.is_last = place.index == place.depth - 1

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        raw, state = sublayer(x)
        y = self.dropout(raw)
        if self.is_last and self.training:
            if self.activation:
                add_loss("activation", self.activation * y.pow(2).mean())
            if self.temporal and raw.shape[1] > 1:
                add_loss("temporal", self.temporal * raw.diff(dim=1).pow(2).mean())
        return y, state
