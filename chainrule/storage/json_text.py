"""Results as strict JSON: plain values, without NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:
    """One JSON text; see `json_value`."""
    return json.dumps(json_value(value), indent=indent, ensure_ascii=False, allow_nan=False)


def json_value(value: Any) -> Any:
    """A JSON value: NumPy values become Python's, tuples and sets lists, paths text, NaN and infinities None."""
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return json_value(value.tolist()) if hasattr(value, "tolist") else str(value)
