"""What the wirings have in common that normalize what goes into a sublayer and leave the stream alone."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from chainrule.parts.norms._summed import summed
from chainrule.parts.place import Place
from chainrule.parts.wirings._wiring import Make, Sublayer, Wiring


class PreNormed(Wiring):
    """y = x + dropout(written(f(norm(x)))); the stack ends with one more norm."""

    ends_with_norm = True

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def written(self, y: Tensor) -> Tensor:
        """What is added to the stream, of the sublayer's output."""
        return y

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        y, state = sublayer(self.norm(x))
        return x + self.dropout(self.written(y)), state

    def flow(self, x: Tensor, added: Tensor | None, sublayer: Sublayer) -> tuple[Tensor, Tensor | None, Any]:
        x, inward = summed(self.norm, x, added)
        y, state = sublayer(inward)
        return x, self.dropout(self.written(y)), state
