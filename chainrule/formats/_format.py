"""What a format can do: files of another program, read or written or both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

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
