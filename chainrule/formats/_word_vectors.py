"""What the formats of word vectors have in common: which runs they hold, and what an imported one is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainrule.protocols import WordVectors
from chainrule.runs import LoadedRun, save_run
from chainrule.vectors.files.table import Table, tokenizer_of

FAMILY = "vectors"


def exported(run: LoadedRun, form: str) -> Any:
    """The vectors of a run that holds some."""
    return run.offering(WordVectors, f"export --to {form}")


def facts(vectors: Any) -> dict[str, Any]:
    """For the report of an export."""
    return {"vocabulary": len(vectors.words), "dimension": vectors.dimension}


def import_table(path: Path, out: Path, table: Table, *, replace: bool) -> dict[str, Any]:
    """A run of words and vectors only: the file does not say how they were trained."""
    model = {"dimension": table.rows.shape[1], "method": "imported"}
    return import_tensors(path, out, {"vectors": table.rows}, table.words, sections={"model": model}, replace=replace)


def import_tensors(path: Path, out: Path, tensors: dict[str, np.ndarray], words: list[str], *,
                   sections: dict[str, Any], replace: bool) -> dict[str, Any]:
    """A run of the tensors of family `vectors`, with the recipe's sections as far as they are known."""
    from chainrule.families.vectors import WEIGHTS
    from chainrule.recipe.recipe import make_recipe
    from chainrule.storage.tensors import save_tensors

    recipe = make_recipe({"family": FAMILY, "tokenizer": "words", **sections,
                          "description": f"Imported from {path.name}: trained elsewhere, not by this recipe."})
    model: Any = recipe.model
    report = {"family": FAMILY, "method": model.method["name"], "imported": path.name, "vocabulary": len(words),
              "dimension": tensors["vectors"].shape[1]}
    save_run(out, lambda folder: save_tensors(folder / WEIGHTS, tensors), recipe=recipe, tokenizer=tokenizer_of(words),
             report=report, replace=replace)
    return report
