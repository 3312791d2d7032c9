"""Options of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measuring:
    """Options of `chainrule evaluate`; each task uses some of them."""

    bootstrap: int = 10_000  # resamples for the 95 % intervals; 0: none
    seed: int = 0  # of the resamples
    by_order: bool = False  # also with shorter contexts
    characters: bool = True  # bits per character too, for which the text is read once more
    beams: int | None = None  # of beam search, where texts are generated; None: the task's own number
    target: Any = None  # what --target names, of a task with sources and targets
    threshold: float | str | None = None  # a classifier rejects texts whose likeliest label is less probable
