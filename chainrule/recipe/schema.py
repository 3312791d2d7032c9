"""The types that options are made of: sizes such as 1.5G, groups of which one is given, sections from dataclasses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, create_model, model_validator

from chainrule.errors import OptionError

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
class OneOf:
    """Marks a group of which exactly one option is given: setting one of them on the command line unsets the others."""


def section_of(plain: type, wrong: str = "", *, without: Sequence[str] = (),
               replaced: Mapping[str, tuple[Any, Any]] | None = None) -> Any:
    """A section of a recipe with a dataclass' fields, defaults and bounds (`ge`, `le`, `gt`, `lt` in their metadata).

    `replaced` has another type and default for some of them. If the dataclass refuses a section, the error message is
    `wrong`, if given.
    """
    hints, taken, other = get_type_hints(plain), {}, replaced or {}
    for each in fields(plain):
        if each.name in other:
            taken[each.name] = other[each.name]
        elif each.name not in without:
            default = each.default_factory() if callable(each.default_factory) else each.default
            taken[each.name] = hints[each.name], Field(default=default, **each.metadata)

    class Section(BaseModel):
        model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

        @model_validator(mode="after")
        def makes_sense(self) -> Section:
            if wrong:
                try:
                    plain(**dict(self))
                except OptionError:
                    raise ValueError(wrong) from None
            return self

    return create_model(plain.__name__, __base__=Section, __doc__=plain.__doc__, **taken)  # type: ignore[call-overload]
