"""Auxiliary losses of parts, such as the balance of experts: a part adds one, the task collects them all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_collecting: list[dict[str, Any]] = []


def add_loss(name: str, value: Any) -> None:
    """Adds to the loss of the current batch, for each of its targets; does nothing outside training."""
    if _collecting:
        found = _collecting[-1]
        found[name] = found[name] + value if name in found else value


@contextmanager
def collected_losses() -> Iterator[dict[str, Any]]:
    """What parts add inside the block: the sum under each name."""
    found: dict[str, Any] = {}
    _collecting.append(found)
    try:
        yield found
    finally:
        _collecting.pop()
