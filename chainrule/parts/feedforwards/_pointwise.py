"""What most feedforwards have in common: one position at a time, nothing remembered."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from chainrule.parts.reading import Reading


class Pointwise(nn.Module):
    """A feedforward implements `through` for each position; as a sublayer it is called like a mixer."""

    def start(self, batch: int, room: int, like: Tensor) -> None:
        """No state."""

    def through(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        raise NotImplementedError

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, None]:
        return self.through(x), None
