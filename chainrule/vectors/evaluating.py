"""Evaluation of word vectors on test files, each by the part for its kind."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError
from chainrule.recipe.registry import build, find, names
from chainrule.vectors.store import Vectors

KIND = "vectors/evaluations"
ORDER = ("similarity", "analogies", "classification")  # from the strictest: a label may be any word
log = logging.getLogger("chainrule")
steps = logging.getLogger("chainrule.steps")


def evaluate(vectors: Vectors, files: Sequence[str | Path]) -> dict[str, Any]:
    """`{"files": {name: {"evaluation": part, …scores}}}`; of a folder, every file that a part knows."""
    found = {}
    for path, name in files_to_measure(files):
        steps.debug(f"{name}: {path.name}")
        found[str(path)] = {"evaluation": name, **build(KIND, name).measure(vectors, path)}
    return {"files": found}


def files_to_measure(files: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """Each file with the part that measures on it; of a folder, every file that a part knows."""
    return [found for each in files
            for found in (_in_folder(Path(each)) if Path(each).is_dir() else [(Path(each), _known(Path(each)))])]


def _known(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: no such file, expected questions or pairs of words to measure word vectors on.")
    name = recognized(path)
    if name is None:
        raise UsageError(f"{path}: no file that word vectors are measured on. Known: analogies (a b c d a line), pairs "
                         "of words with a score, and labeled texts (label text a line).")
    return name


def _in_folder(folder: Path) -> list[tuple[Path, str]]:
    """The files that are measured on; those that belong to another, as a test file to its training file, are in it."""
    found: list[tuple[Path, str]] = []
    taken: set[Path] = set()
    for path in sorted(folder.iterdir(), key=lambda path: ("train" not in path.name, path.suffix != ".pos", path.name)):
        if path in taken or not path.is_file() or path.name.startswith("."):
            continue
        try:
            name = recognized(path)
        except DataError as error:
            log.info(f"left out: {error}")
            continue
        if name is None:
            log.info(f"{path}: left out, no file that word vectors are measured on.")
            continue
        part: Any = find(KIND, name)
        taken |= set(part.files(path)) if hasattr(part, "files") else {path}
        found.append((path, name))
    if not found:
        raise UsageError(f"{folder}: no file in it that word vectors are measured on.")
    return sorted(found)


def recognized(path: Path) -> str | None:
    """The part that knows a file."""
    for name in sorted(names(KIND), key=lambda name: (ORDER.index(name) if name in ORDER else -1, name)):
        part: Any = find(KIND, name)
        if part.recognizes(path):
            return name
    return None
