"""What a network is built for: how many different tokens it reads, and among how many classes its head chooses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """What only the data can say about a network; all else is its `Shape`."""

    vocabulary: int  # different tokens that are read; 0 where inputs are not tokens
    outputs: int  # classes of the head
    features: tuple[int, ...] = ()  # the shape of one input that is not a token: (mels,), (height, width, channels)
    source: Sizes | None = None  # the same of a source, which has no head

    @staticmethod
    def of(given: Sizes | int) -> Sizes:
        """A number stands for a language model's: the tokens that it reads are those that it predicts."""
        return given if isinstance(given, Sizes) else Sizes(given, given)
