"""A run of the engine as one of the family neural, for torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.formats._counterpart import of_family, save_as
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun


@part
class Neural:
    """A run of the family engine as a run of the family neural: the same model, computed by torch."""

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        of_family(run, "engine", "neural")
        return save_as(run, "neural", run.recipe.model_dump(mode="json")["model"], [], path)
