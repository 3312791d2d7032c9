"""Callbacks of training: messages and progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Say = Callable[[str], None]
Show = Callable[[Mapping[str, Any]], None]  # gets the last step's loss, tokens per second, seconds left, …


@dataclass(frozen=True)
class Callbacks:
    """Functions that training calls: `say` with sentences for a person, `show` after every step."""

    say: Say = print
    show: Show | None = None
