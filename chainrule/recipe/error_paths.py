"""Errors of parts name their class; here that is replaced by the path in the recipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel

from chainrule.errors import OptionError
from chainrule.recipe.choices import PartOf
from chainrule.recipe.problems import Path, dotted
from chainrule.recipe.registry import find


@contextmanager
def recipe_paths_in_errors(recipe: BaseModel) -> Iterator[None]:
    """`Attention.heads = 3, …` from inside a part becomes `model.s.heads = 3, …`, where the recipe chose the part."""
    try:
        yield
    except OptionError as error:
        place = _place(recipe, error)
        if place is None:
            raise
        raise error.at(place) from None


def _place(recipe: BaseModel, error: OptionError) -> str | None:
    """Where the recipe chose the part that raised the error; of several, the one with the value in the error."""
    owner, _, option = error.where.partition(".")
    found = [(choice[option] != error.got, f"{dotted(path)}.{option}") for path, kind, choice in _choices(recipe)
             if option in choice and owner in (choice["name"], find(kind, choice["name"]).__name__)]
    return min(found)[1] if found else None


def _choices(model: BaseModel, path: Path = ()) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Path, kind and options of every part that is chosen."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        kind = next((mark.kind for mark in field.metadata if isinstance(mark, PartOf)), None)
        if kind and isinstance(value, dict):
            yield (*path, name), kind, value
        elif isinstance(value, BaseModel):
            yield from _choices(value, (*path, name))
