"""The types that options are made of: sizes such as 1.5G, and choices of a part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, core_schema

from chainrule.recipe import registry

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_size(value: int | str) -> int:
    """Bytes of `500M`, `1.5G`, `2 GB`, `64KiB` or a plain number; K, M, G and T are powers of 1024."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:i?B)?", str(value), re.IGNORECASE)
    if not found or ("." in found[1] and not found[2]):
        raise ValueError("expected a size such as 500M or 1.5G")
    return round(float(found[1]) * UNITS[found[2].upper()])


def format_size(size: int) -> str | int:
    """The shortest spelling that `parse_size` reads as exactly this number."""
    for unit in "TGMK":
        text = f"{size / UNITS[unit]:.2f}".rstrip("0").rstrip(".")
        if size >= UNITS[unit] and parse_size(text + unit) == size:
            return text + unit
    return size


Size = Annotated[int, BeforeValidator(parse_size, json_schema_input_type=int | str),
                 PlainSerializer(format_size, when_used="json")]


@dataclass(frozen=True)
class PartOf:
    """Marks an option that chooses a part: `Annotated[dict[str, Any], PartOf("counting/smoothing")]`.

    A recipe gives the part's name, or a mapping with `name` and options; it becomes a mapping with every option.
    """

    kind: str
    optional: bool = False  # None is a choice too

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._resolved)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"name": {"enum": registry.names(self.kind)}}, "required": ["name"]}

    def _resolved(self, value: Any) -> dict[str, Any] | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, str | Mapping):
            raise ValueError(f"expected the name of a {registry.called(self.kind)}, or a mapping with a name")
        return registry.resolve(self.kind, value)


@dataclass(frozen=True)
class OneOf:
    """Marks a group of which exactly one option is given: setting one of them on the command line unsets the others."""
