"""`chainrule.import_model`: a run from a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError
from chainrule.formats._format import KIND, Format
from chainrule.recipe.registry import build, find, names
from chainrule.storage import check_target


def import_model(file: str | Path, out: str | Path, *, format: str | None = None,
                 force: bool = False) -> dict[str, Any]:
    """Makes a run folder of another program's model file; the format is known by its name or content if not given."""
    check_target(out, replace=force)
    path = Path(file)
    if not path.is_file():
        raise DataError(f"{file}: no such file." if not path.exists() else f"{file}: not a file.")
    chosen = format or _recognized(path)
    form: Format = build(KIND, chosen)
    if chosen not in _read():
        raise UsageError(f"--from = {chosen!r}, expected {', '.join(_read())}: runs of another family are made by "
                         f"chainrule export RUN --to {chosen} {out}.")
    return {"run": str(out), "format": chosen, **form.import_run(path, Path(out), replace=force)}


def _read() -> list[str]:
    """The formats of which there are files to import."""
    return [name for name in names(KIND) if hasattr(find(KIND, name), "import_run")]


def _recognized(path: Path) -> str:
    if not path.stat().st_size:
        raise DataError(f"{path}: there is nothing in it, expected a model. It may have been cut.")
    for name in _read():
        form: Any = find(KIND, name)
        if form.recognizes(path):
            return name
    raise UsageError(f"{path}: in none of the known formats ({', '.join(_read())}). "
                     "If it is in one of them, say so with --from.")
