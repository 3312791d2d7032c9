"""A run as a run of another family that computes the same: the same weights with a translated recipe."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

from chainrule.errors import UsageError
from chainrule.recipe.recipe import make_recipe
from chainrule.recipe.registry import find, has, options
from chainrule.runs import METRICS, LoadedRun, save_run
from chainrule.storage.json_files import read_rows

WEIGHTS, TIMINGS = "model.safetensors", "timings.jsonl"
OPTIMIZERS = {"engine": "engine/optimizers", "neural": "training/optimizers"}
log = logging.getLogger("chainrule")


def of_family(run: LoadedRun, family: str, wanted: str) -> None:
    """Refuses a run of any family but one."""
    if run.recipe.family != family:
        raise UsageError(f"{run.path}: of the family {run.recipe.family}, expected {family}: only that can be exported "
                         f"to the family {wanted}.")


def save_as(run: LoadedRun, family: str, model: dict[str, Any], left_out: list[str], out: Path) -> dict[str, Any]:
    """Writes the run of the other family; logs the options that its recipe lacks, and returns facts for the report."""
    given, rows = run.recipe.model_dump(mode="json"), read_rows(run.path / METRICS)
    training, missing = training_of(given["training"], run.recipe.family, family)
    left_out = [*left_out, *missing]
    recipe = make_recipe({**given, "family": family, "model": model, "training": training,
                          "description": f"{run.recipe.description} Trained in the family {run.recipe.family}."})
    if left_out:
        log.info(f"the recipe of {out} does not have {', '.join(left_out)}: training it again would give different "
                 "results. The exported model is the same.")

    def write(folder: Path) -> None:
        for name in (WEIGHTS, TIMINGS):
            if (run.path / name).exists():
                shutil.copyfile(run.path / name, folder / name)

    save_run(out, write, recipe=recipe, tokenizer=run.tokenizer, metrics=rows, replace=out.exists(),
             report={**run.report, "family": family, "trained_in": run.recipe.family})
    return {"family": family, "left_out": left_out}


def training_of(given: dict[str, Any], family: str, other: str) -> tuple[dict[str, Any], list[str]]:
    """The `training` section for the other family, and which of its options that family does not have."""
    usual: Any = find("families", family).Training()  # type: ignore[attr-defined]
    known: Any = find("families", other).Training.model_fields  # type: ignore[attr-defined]
    said = {key: value for key, value in given.items() if key in known and key != "optimizer"}
    left_out = [f"training.{key}" for key, value in given.items()
                if key not in known and key != "initial" and value != getattr(usual, key)]
    if other == "engine" and said["precision"] not in ("float32", "float64"):
        left_out.append(f"training.precision={said.pop('precision')}")
    if other == "neural":
        said["initial"] = "engine"  # so that the same seed makes the same run again
    name = given["optimizer"]["name"]
    if not has(OPTIMIZERS[other], name):
        return said, [*left_out, f"training.optimizer={name}"]
    shared, own = options(OPTIMIZERS[other], name), options(OPTIMIZERS[family], name)
    said["optimizer"] = {key: value for key, value in given["optimizer"].items() if key == "name" or key in shared}
    return said, left_out + [f"training.optimizer.{key}" for key, value in given["optimizer"].items()
                             if key not in said["optimizer"] and value != own[key].default]
