"""A run of the family neural as one of the engine, which needs no torch."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from chainrule.errors import OptionError, UsageError
from chainrule.formats._counterpart import of_family, save_as
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun


@part
class Engine:
    """A run of the family neural as a run of the family engine: the same model in NumPy, without torch."""

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        from chainrule.models.engine_counterpart import in_engine

        of_family(run, "neural", "engine")
        try:
            shape, left_out = in_engine(asdict(run.model.stack.shape))
        except OptionError as error:
            raise UsageError(f"{run.path}: {error}") from None
        return save_as(run, "engine", asdict(shape), left_out, path)
