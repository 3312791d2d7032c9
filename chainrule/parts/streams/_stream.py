"""What changes the stream: a letter of the pattern without a wiring, which may change what later letters read."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import Tensor, nn

from chainrule.parts.reading import Reading

Lengths = TypeVar("Lengths", int, Tensor)


class StreamPart(nn.Module):
    """Takes the whole stream and gives another one, with the reading that all sublayers behind it get.

    What it must remember until its next turn in the same pass is carried by the reading.
    """

    reads = "either"

    def start(self, batch: int, room: int, like: Tensor) -> Any:
        """No state from token to token."""
        return None

    def lengths(self, lengths: Lengths, full: Lengths) -> Lengths:
        """How many vectors it makes of so many; the stream began with `full`."""
        return lengths

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any, Reading]:
        raise NotImplementedError
