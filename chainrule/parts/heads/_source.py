"""What a head that copies needs of the source: its vectors, and its tokens."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class SeenSource:
    """A source as the network has read it."""

    vectors: Tensor  # (B, S, D)
    ids: Tensor  # (B, S)
    lengths: Tensor | None = None  # (B,) real ones
