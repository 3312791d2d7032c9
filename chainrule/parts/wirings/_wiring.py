"""What a wiring does: connect a sublayer to the residual stream, and scale its initial weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.parts.place import Place

Make = Callable[[], nn.Module]
Sublayer = Callable[[Tensor], tuple[Tensor, Any]]


def stream_weights(body: nn.Module) -> list[Tensor]:
    """The matrices between a sublayer's input and the stream: all of them, unless the sublayer says which."""
    named = getattr(body, "stream_weights", None)
    return [each for each in body.parameters() if each.dim() > 1] if named is None else named()


class Wiring(nn.Module):
    """Around one sublayer; `forward` gives the stream after it, and the sublayer's state."""

    ends_with_norm = False  # whether the stack ends with one more norm
    changes_width = False  # whether what leaves a sublayer may have another width than what enters it
    scales_with_depth = True  # whether what writes into the stream starts 1/√depth as large, as `Linear` has it

    def open(self, x: Tensor) -> Tensor:
        """(B, T, D) to the stream that all sublayers of a stack share; the first sublayer's wiring opens it."""
        return x

    def close(self, x: Tensor) -> Tensor:
        """The stream to (B, T, D), the reverse of `open`; the last sublayer's wiring closes it."""
        return x

    def initialize(self, body: nn.Module, place: Place) -> None:
        """Changes the first weights of the sublayer, once both are built; most wirings leave them alone."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> tuple[Tensor, Any]:
        """The stream after the sublayer, and the sublayer's state."""
        raise NotImplementedError

    def flow(self, x: Tensor, added: Tensor | None, sublayer: Sublayer) -> tuple[Tensor, Tensor | None, Any]:
        """The same for a stream with a pending term of the sublayer before; returns the new pending term.

        So one kernel can add and normalize; a wiring without such a kernel only needs `forward`.
        """
        x, state = self(x if added is None else x + added, sublayer)
        return x, None, state

    def settled(self, x: Tensor, added: Tensor) -> tuple[Tensor, Tensor | None]:
        """Stream and pending term for a sublayer that is watched: added up, unless it reads the stream without them."""
        return x + added, None
