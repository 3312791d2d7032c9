"""Reading a run folder: nothing is loaded from it before its manifest and every file have been checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chainrule.errors import StorageError, did_you_mean
from chainrule.storage.manifest import NAME, Entry, check_content, check_presence, check_regular, read_manifest
from chainrule.storage.swapping import aside
from chainrule.storage.verified import check_once, remember


@dataclass(frozen=True)
class RunFolder:
    """A run folder whose files are those of its manifest."""

    path: Path
    files: dict[str, Entry]

    def file(self, name: str) -> Path:
        """The path of a file that the manifest vouches for."""
        if name not in self.files:
            raise StorageError(f"{self.path}: has no {name}.{did_you_mean(name, self.files)}")
        return self.path / name


def open_run(path: str | Path) -> RunFolder:
    """Checks the folder and gives it; a missing, cut, changed or damaged file is an error that names it."""
    folder, files = _listed(path)
    for name, entry in files.items():
        check_once(check_presence(folder, name, entry), entry)
    return RunFolder(folder, files)


def verify_run(path: str | Path) -> tuple[RunFolder, list[StorageError]]:
    """Reads every byte of every file, whatever was checked before; all that is wrong with them, not only the first."""
    folder, files = _listed(path)
    problems = []
    for name, entry in files.items():
        try:
            check_content(check_presence(folder, name, entry), entry)
            remember(folder / name, entry)
        except StorageError as error:
            problems.append(error)
    return RunFolder(folder, files), problems


def extra_files(folder: Path, files: dict[str, Entry]) -> list[str]:
    """What lies in the folder and is not in its manifest."""
    found = (each.relative_to(folder).as_posix() for each in sorted(folder.rglob("*")) if not each.is_dir())
    return [name for name in found if name not in files and name != NAME]


def _listed(path: str | Path) -> tuple[Path, dict[str, Entry]]:
    folder = Path(path)
    if not folder.exists() and aside(folder).exists():
        raise StorageError(f"{folder}: its replacement was cut short; the earlier run is whole in {aside(folder)}. "
                           "Rename it back.")
    if not folder.exists():
        runs = [str(each.parent) for each in folder.parent.glob(f"*/{NAME}")]
        raise StorageError(f"{folder}: no such run folder.{did_you_mean(str(folder), runs)}")
    if not folder.is_dir():
        raise StorageError(f"{folder}: a file, expected a run folder.")
    files = read_manifest(folder)
    for each in folder.rglob("*"):
        check_regular(each)
    return folder, files
