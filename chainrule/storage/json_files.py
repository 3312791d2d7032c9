"""JSON files of run folders: what is not JSON is an error that names the file, and in JSON lines the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError
from chainrule.storage.manifest import HINT

FACTS = "known.json"  # what a run knows about its data besides the tokenizer: labels, means and the like


def read_object(path: Path) -> dict[str, Any]:
    """The one object of a JSON file."""
    return _object(_text(path), str(path))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines. Only a line feed ends one: texts in them may have other separators."""
    lines = _text(path).split("\n")
    if not lines[-1]:
        lines.pop()
    return [_object(line, f"{path}: line {number}") for number, line in enumerate(lines, start=1)]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: byte {error.start} is not UTF-8, expected JSON. {HINT}") from None


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{where}: not JSON ({error}). {HINT}") from None
    if not isinstance(found, dict):
        raise StorageError(f"{where}: a JSON {type(found).__name__}, expected an object. {HINT}")
    return found
