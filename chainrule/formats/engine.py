"""A run of the family neural as one of the engine, which needs no torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import OptionError, UsageError
from chainrule.formats._counterpart import of_family, save_as
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun


@part
class Engine:
    """A run of the family neural as a run of the family engine: the same model in NumPy, without torch."""

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        from chainrule.families._stepwise import shape_of
        from chainrule.models.engine_stack import EngineStack, training_differences
        from chainrule.models.writing import Unset

        of_family(run, "neural", "engine")
        shape = shape_of(run.recipe)
        try:
            EngineStack(shape, 1, Unset(np.random.PCG64(0)))  # says what the engine does not have
        except OptionError as error:
            raise UsageError(f"{run.path}: {error}") from None
        differences = training_differences(shape)
        model = run.recipe.model_dump(mode="json")["model"]
        for where, value in differences.items():
            _, slot, option = where.split(".")
            (model["parts"] if slot in model["parts"] else model)[slot][option] = value
        return save_as(run, "engine", model, list(differences), path)
