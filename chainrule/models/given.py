"""What a network is given besides what it reads: a source, such as a text to translate or an image to describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Given:
    """A source: (B, S, …) inputs, and how many of each row are real (B,); None where none is padded."""

    inputs: Any
    lengths: Any = None
