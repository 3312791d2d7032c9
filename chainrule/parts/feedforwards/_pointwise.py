"""What most feedforwards have in common: one position at a time, nothing remembered."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from chainrule.parts.reading import Reading


class Pointwise(nn.Module):
    """A feedforward says what becomes of each position, in `through`; as a sublayer it is called as mixers are."""

    def start(self, batch: int, room: int, like: Tensor) -> None:
        """There is nothing to remember."""

    def through(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        raise NotImplementedError

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, None]:
        return self.through(x), None
