"""How a run is measured, beside the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measuring:
    """Options of `chainrule evaluate`; a task uses those that it has a use for."""

    bootstrap: int = 10_000  # resamples for the 95 % intervals; 0: none
    seed: int = 0  # of the resamples
    by_order: bool = False  # also with shorter contexts
    characters: bool = True  # bits per character too, for which the text is read once more
