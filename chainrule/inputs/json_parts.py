"""One JSON value with several parts, `{"train": […], "test": […]}`, or a list that is one part without a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.text.corpora.packing import open_stream


def json_parts(path: Path, longest: int, *, holds: str, expected: str, instead: str = "") -> dict[str, list[Any]]:
    """The parts by their name; at most `longest` MiB are read. The other words are for messages."""
    with open_stream(path) as stream:
        data = stream.read((longest << 20) + 1)
    if len(data) > longest << 20:
        raise DataError(f"{path}: more than {longest} MiB of JSON in one value, which is read as a whole. "
                        f"{instead or 'Use several files'}, or set text.longest_line={2 * longest}.")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error}), expected {expected}.") from None
    if isinstance(found, list) and found:
        return {"": found}
    if isinstance(found, dict) and found and all(isinstance(each, list) for each in found.values()):
        return found
    raise DataError(f"{path}: JSON that holds no {holds}, expected {expected}.")
