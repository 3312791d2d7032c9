"""What a recipe's schema has at a path such as `model.s.attend.window`: a section, an option, or a part and its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from chainrule.recipe.choices import PartOf
from chainrule.recipe.problems import Path
from chainrule.recipe.registry import has, options
from chainrule.recipe.schema import OneOf


@dataclass(frozen=True)
class Place:
    """One step of a path: its type, its annotations, and its default."""

    annotation: Any
    marks: tuple[Any, ...] = ()
    default: Any = None
    given: Any = None  # what the recipe says there

    @property
    def kind(self) -> str | None:
        """The kind of part that is chosen here, if one is."""
        return next((mark.kind for mark in self.marks if isinstance(mark, PartOf)), None)

    @property
    def one_of(self) -> bool:
        """Whether this is a group of which exactly one option is given."""
        return any(isinstance(mark, OneOf) for mark in self.marks)

    @property
    def part(self) -> Any:
        """The name of the part that is chosen here."""
        return name_of(self.given) if self.given is not None else name_of(self.default)

    @property
    def section(self) -> type[BaseModel] | None:
        """The section that begins here."""
        return next(models(self.annotation), None)

    def inner(self, step: Any) -> Place | None:
        """What stands one step further; None where there is no such place."""
        given = self.given.get(step) if isinstance(self.given, Mapping) else None
        if self.kind:
            return self._of_part(step, given)
        if get_origin(self.annotation) is dict:  # any name, and one type for all
            value = get_args(self.annotation)[1]
            return Place(value, tuple(getattr(value, "__metadata__", ())), None, given)
        if self.section is None or step not in self.section.model_fields:
            return None
        field = self.section.model_fields[step]
        return Place(field.annotation, tuple(field.metadata), field.default, given)

    def _of_part(self, step: Any, given: Any) -> Place:
        """An option of a part; unknown names and options are reported later, by the part."""
        assert self.kind is not None
        known = options(self.kind, self.part) if has(self.kind, self.part) else {}
        if step not in known:
            return Place(Any, (), None, given)
        return Place(known[step].hint, (known[step].hint,), known[step].default, given)


def place_at(schema: type[BaseModel], path: Path, data: Mapping[str, Any] | None = None) -> Place | None:
    """What the schema has at a path of a recipe; None where it has nothing."""
    here: Place | None = Place(schema, given=data or {})
    for step in path:
        here = here.inner(step) if here else None
    return here


def name_of(choice: Any) -> Any:
    """The name in a choice of a part."""
    return choice.get("name") if isinstance(choice, Mapping) else choice


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models inside an annotation such as `Options | None`."""
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each


def all_places(schema: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every dotted path of a schema, without those inside parts."""
    for name, field in schema.model_fields.items():
        yield prefix + name
        for inner in models(field.annotation):
            yield from all_places(inner, f"{prefix}{name}.")
