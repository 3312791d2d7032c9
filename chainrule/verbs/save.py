"""`chainrule.save`: a model that was changed or made in Python becomes a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, UsageError
from chainrule.recipe.registry import find
from chainrule.runs import MISFITS, SIZES, LoadedRun, save_run
from chainrule.storage import check_target
from chainrule.storage.manifest import NAME, hashed

LASTING = ("family", "vocabulary", "labels", "method", *SIZES)  # of a report: what does not depend on the weights


def save(run: LoadedRun, out: str | Path, *, report: Mapping[str, Any] | None = None, force: bool = False) -> Path:
    """Writes a run, with its model as it is now, as a run folder of its own; a run that is there needs `force`.

    What was measured before is left out, since it may no longer be true; `report` adds what is. Before anything is put
    in place, the model is loaded back: one that does not fit its recipe and tokenizer is refused.
    """
    if not isinstance(run, LoadedRun):
        raise UsageError(f"save(run = {type(run).__name__}), expected what chainrule.load gives, or a LoadedRun of "
                         "your own: LoadedRun(path, recipe, tokenizer, model, report).")
    check_target(out, replace=force)
    family: Any = find("families", run.recipe.family)
    facts = {"family": run.recipe.family, "made_in": "Python",
             **{key: run.report[key] for key in LASTING if key in run.report}}
    if (run.path / NAME).is_file():
        facts["saved_from"] = {"run": str(run.path), "sha256": hashed(run.path / NAME).sha256}

    def write(folder: Path) -> None:
        try:
            family.write(folder, run)
            family.load(folder, run.recipe, run.tokenizer)
        except (*MISFITS, StorageError) as error:
            said = " ".join(f"{error}".replace(str(folder), str(out)).split())
            raise UsageError(f"{out}: this {type(run.model).__name__} is not the model of the run's recipe and "
                             f"tokenizer ({said}). Nothing was saved.") from error

    return save_run(out, write, recipe=run.recipe, tokenizer=run.tokenizer, report={**facts, **(report or {})},
                    replace=force)
