"""Errors of parts name their class; here that is replaced by the path in the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from chainrule.errors import OptionError
from chainrule.recipe.choices import PartOf
from chainrule.recipe.problems import Path, dotted
from chainrule.recipe.registry import find, options


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
    """Path, kind and options of every part that is chosen, also of parts inside parts."""
    for name, field in type(model).model_fields.items():
        value, here = getattr(model, name), (*path, name)
        if isinstance(value, BaseModel):
            yield from _choices(value, here)
        elif kind := _kind(field.metadata):
            yield from _with_inner(value, kind, here)
        elif get_origin(field.annotation) is dict and (kind := _kind(_marks(get_args(field.annotation)[1]))):
            for key, choice in value.items():
                yield from _with_inner(choice, kind, (*here, key))


def _with_inner(choice: Any, kind: str, path: Path) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    if isinstance(choice, dict):
        yield path, kind, choice
        for name, option in options(kind, choice["name"]).items():
            if inner := _kind([option.hint]):
                yield from _with_inner(choice[name], inner, (*path, name))


def _marks(annotation: Any) -> Iterable[Any]:
    return getattr(annotation, "__metadata__", ())


def _kind(marks: Iterable[Any]) -> str | None:
    """The kind of part that these annotations choose."""
    return next((mark.kind for mark in marks if isinstance(mark, PartOf)), None)
