"""`chainrule.export`: a run's model in a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.errors import StorageError
from chainrule.formats._format import KIND, Format
from chainrule.recipe.registry import build
from chainrule.runs import load


def export(run: str | Path, to: str, file: str | Path, *, force: bool = False) -> dict[str, Any]:
    """Writes a run's model into a file of another format, e.g. `export("runs/ptb5", "arpa", "ptb5.arpa.gz")`.

    To another family it is a run again: `export("runs/et", "neural", "runs/nt")`.
    """
    form: Format = build(KIND, to)
    target = Path(file)
    if target.exists() and not force:
        raise StorageError(f"{file}: exists already. Choose another name, or replace it with --force.")
    if not target.absolute().parent.is_dir():
        raise StorageError(f"{file}: the folder {target.parent} does not exist. Make it first, or choose another name.")
    facts = form.export(load(run), target)
    written = target.iterdir() if target.is_dir() else [target]
    return {"file": str(file), "format": to, "bytes": sum(each.stat().st_size for each in written), **facts}
