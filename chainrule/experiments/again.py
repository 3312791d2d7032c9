"""The command that runs a comparison or an ablation again, with all its options."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.experiments.terms import Terms
from chainrule.recipe.plugins import folders


def command_again(verb: str, words: Sequence[str], data: Any, out: Path, budget: str, terms: Terms) -> str:
    """The command that runs a comparison or an ablation again."""

    def options(name: str, values: Any) -> list[str]:
        listed = [values] if isinstance(values, str | Path | int) or values is None else list(values)
        return [part for value in listed if value is not None for part in (name, str(value))]

    tokenizer = None if terms.tokenizer is None else str(terms.tokenizer)
    parts = ["chainrule", verb, *words, *options("--data", data), *options("--valid", terms.valid), "--budget",
             budget, *options("--tokenizer", tokenizer), *options("--params", terms.params),
             *options("--target", terms.target), *options("--valid-target", terms.valid_target),
             *(options("--seeds", terms.seeds) if terms.seeds > 1 else []), *options("--grid", terms.grid),
             *options("--change", terms.changes), *terms.flags(), *options("--plugins", map(_near, folders())), "--out",
             str(out)]
    return shlex.join(parts)


def _near(folder: Path) -> Path:
    """As one would type it here: a folder below this one without the way to it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
