"""Word vectors on test files, each measured by the part that knows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError
from chainrule.registry import build, find, names
from chainrule.vectors.store import Vectors

KIND = "vectors/evaluations"


def evaluate(vectors: Vectors, files: Sequence[str | Path]) -> dict[str, Any]:
    """`{"files": {name: {"evaluation": part, …scores}}}`"""
    found = {}
    for each in files:
        path = Path(each)
        if not path.is_file():
            raise DataError(f"{each}: no such file, expected questions or pairs of words to measure word vectors on.")
        name = _recognized(path)
        found[str(each)] = {"evaluation": name, **build(KIND, name).measure(vectors, path)}
    return {"files": found}


def _recognized(path: Path) -> str:
    for name in names(KIND):
        part: Any = find(KIND, name)
        if part.recognizes(path):
            return name
    raise UsageError(f"{path}: no file that word vectors are measured on. Known: analogies (a b c d a line) and pairs "
                     "of words with a score.")
