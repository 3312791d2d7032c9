"""Models to and from other programs' files, whatever the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from chainrule.errors import DataError, StorageError, UsageError
from chainrule.registry import build, find, names

if TYPE_CHECKING:
    from chainrule.runs import LoadedRun

KIND = "formats"


class Format(Protocol):
    """What a file in chainrule/formats/ marks as its part; one that is only written has `export` alone."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether the file looks like one of this format."""
        ...

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        """Writes the file, or the run of another family, whole or not at all; facts for the report."""
        ...

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        """Makes a run folder of the file; its report."""
        ...


def export(run: str | Path, to: str, file: str | Path, *, force: bool = False) -> dict[str, Any]:
    """Writes a run's model into a file of another format, e.g. `export("runs/ptb5", "arpa", "ptb5.arpa.gz")`.

    To another family it is a run again: `export("runs/et", "neural", "runs/nt")`.
    """
    from chainrule.runs import load

    form: Format = build(KIND, to)
    target = Path(file)
    if target.exists() and not force:
        raise StorageError(f"{file}: exists already. Choose another name, or replace it with --force.")
    if not target.absolute().parent.is_dir():
        raise StorageError(f"{file}: the folder {target.parent} does not exist. Make it first, or choose another name.")
    facts = form.export(load(run), target)
    written = target.iterdir() if target.is_dir() else [target]
    return {"file": str(file), "format": to, "bytes": sum(each.stat().st_size for each in written), **facts}


def import_model(file: str | Path, out: str | Path, *, format: str | None = None,
                 force: bool = False) -> dict[str, Any]:
    """Makes a run folder of another program's model file; the format is known by its name or content if not given."""
    from chainrule.storage import check_target

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
