"""The terms of an ablation: those of a comparison, how changes are combined, and whether rates are searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chainrule.experiments.terms import Terms


@dataclass(frozen=True, kw_only=True)
class AblationTerms(Terms):
    """The options of `ablate`, with their defaults; `params` may be "base", for as many as the base has."""

    combine: Literal["alone", "pairs", "grid"] = "alone"  # changes one by one, two by two, or in all combinations
    search: bool = False  # whether each variant gets a learning rate of its own first

    def flags(self) -> list[str]:
        """What only an ablation has, as options of the command line."""
        combined = {"alone": [], "pairs": ["--all-pairs"], "grid": ["--grid"]}[self.combine]
        return [*combined, *(["--search"] if self.search else []), *super().flags()]
