"""What a part may know about its network when it is built."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Handed to the constructor of every part; a new fact is a new field here, not a new argument everywhere."""

    width: int  # D, of the stream
    depth: int = 1  # sublayers of the stack: what writes into the stream starts 1/√depth as large
    index: int = 0  # of the sublayer, from the input; of the first one, where several share its weights; −1 before all
    context: int = 128  # the most positions that are read at once
    heads: int = 1  # of attention, for positions and attention parts that keep something for each head
    causal: bool = True  # True: a position sees itself and those before it; False: both sides
    vocabulary: int = 0  # different tokens that are read
    outputs: int = 0  # what the head chooses among
    dropout: float = 0.0  # of attention weights, for attention parts
    features: tuple[int, ...] = ()  # the shape of one input that is not a token
    source_width: int | None = None  # D of the source, where there is one
    source_context: int | None = None  # the most positions of the source
    source_causal: bool = True  # how the source is read
    wired: int = 0  # sublayers before it, without the stream parts, which have no wiring
    times: int = 1  # how many sublayers share its weights
    source_depth: int = 0  # sublayers of the source
    reader_depth: int = 0  # of a source: sublayers of the stack that looks at it

    @property
    def head_width(self) -> int:
        """E."""
        return self.width // self.heads
