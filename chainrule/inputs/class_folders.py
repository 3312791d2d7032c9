"""One folder a class: every file below it is an example, and the folder's name is its label."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.text.corpora.blocks import blocks
from chainrule.text.corpora.packing import readable

TEXTS = (".txt",)


@dataclass(frozen=True)
class ClassFolders:
    """The files of a folder whose subfolders are classes."""

    folder: Path
    found: tuple[tuple[Path, str], ...]  # files and their labels

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(str(path) for path, _ in self.found)

    @cached_property
    def size(self) -> int:
        return sum(path.stat().st_size for path, _ in self.found)

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        found = hashlib.sha256()
        for path, label in self.found:
            with readable(path), path.open("rb") as stream:
                found.update(f"{label} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
        return found.hexdigest()

    def texts(self, errors: str, longest: int) -> Iterator[tuple[bytes, str, Path]]:
        """What is in each file, its label, and the file."""
        for path, label in self.found:
            if path.stat().st_size > longest << 20:
                raise DataError(f"{path}: longer than {longest} MiB, expected one text a file. Set "
                                f"text.longest_line={2 * longest}, if there is memory for it.")
            yield b"".join(block.data for block in blocks(path, size=1 << 20, errors=errors)), label, path


def class_folders(data: Any, endings: Sequence[str] = TEXTS, prefix: str | None = None) -> ClassFolders | None:
    """A folder that holds nothing but folders, each with files of these endings; None for other data.

    Texts with labels of their own, `prefix` before them, are none.
    """
    specs = [data] if isinstance(data, str | Path) else list(data) if isinstance(data, Sequence) else []
    if len(specs) != 1 or not isinstance(specs[0], str | Path) or not (folder := Path(specs[0]).expanduser()).is_dir():
        return None
    inside = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    classes = [path for path in inside if path.is_dir()]
    if len(classes) < 2 or any(path.suffix.lower() in endings for path in inside if path.is_file()):
        return None
    found = [(path, label.name) for label in classes for path in sorted(label.rglob("*"))
             if path.is_file() and path.suffix.lower() in endings]
    if not found or (prefix is not None and _begins(found[0][0], prefix)):
        return None
    return ClassFolders(folder, tuple(found))


def _begins(path: Path, prefix: str) -> bool:
    with readable(path), path.open("rb") as stream:
        return stream.read(1 << 16).lstrip(b"\xef\xbb\xbf").startswith(prefix.encode())
