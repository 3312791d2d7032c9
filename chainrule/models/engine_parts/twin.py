"""Twins: which torch part a module of the engine is the counterpart of, and for which options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import resolve

FILES = ("mixers", "feedforwards", "other_parts")  # files of this folder with twins
Made = TypeVar("Made", bound=type)
Values = Callable[[Mapping[str, Any], Place], tuple[Any, ...]]


@dataclass(frozen=True)
class StandsFor:
    """A twin computes what the part computes, for all values of `takes` and for those values of `only`."""

    make: Callable[[Place, Mapping[str, Any], np.random.Generator], Any]
    takes: tuple[str, ...]
    only: Mapping[str, tuple[Any, ...] | Values]  # allowed values of options that the engine does not have
    training: Mapping[str, Any] = field(default_factory=dict)  # options of training alone, with the engine's value

    def allowed(self, option: str, options: Mapping[str, Any], place: Place) -> tuple[Any, ...] | None:
        """The values of an option that the engine supports; None: any."""
        if option in self.takes or option in self.training:
            return None
        values = self.only.get(option, ())
        return values(options, place) if callable(values) else values


_TWINS: dict[str, StandsFor] = {}


def stands_for(part: str, *, takes: tuple[str, ...] = (), only: Mapping[str, tuple[Any, ...] | Values] | None = None,
               training: Mapping[str, Any] | None = None) -> Callable[[Made], Made]:
    """Marks the twin of a part: `@stands_for("parts/mixers/attention", takes=("heads",))`."""
    def mark(made: Made) -> Made:
        _TWINS[part] = StandsFor(made, takes, only or {}, training or {})
        return made
    return mark


def twins() -> dict[str, StandsFor]:
    """Every part that has a twin: `parts/mixers/attention`."""
    for name in FILES:
        import_module(f"chainrule.models.engine_parts.{name}")
    return _TWINS


def build_twin(kind: str, choice: Choice, place: Place, random: np.random.Generator, where: str) -> Any:
    """The engine's part for a choice; `where` is its path in the recipe, for error messages."""
    options = resolve(kind, choice)
    found = _twin_of(kind, options["name"], where)
    for option, value in options.items():
        allowed = None if option == "name" else found.allowed(option, options, place)
        if allowed is not None and value not in allowed:
            expected = " or ".join(map(repr, allowed)) or "a part without this option"
            raise OptionError(f"{where}.{option}", value, expected, "The engine has no other.")
    return found.make(place, options, random)


def differs_in_training(kind: str, choice: Choice, where: str) -> dict[str, Any]:
    """Options that only change training and differ from what the engine does, with the engine's value."""
    options = resolve(kind, choice)
    found = _twin_of(kind, options["name"], where)
    return {f"{where}.{option}": value for option, value in found.training.items() if options[option] != value}


def _twin_of(kind: str, name: str, where: str) -> StandsFor:
    found = twins().get(f"{kind}/{name}")
    if found is None:
        known = sorted(part.rpartition("/")[2] for part in twins() if part.rpartition("/")[0] == kind)
        raise OptionError(where, name, " or ".join(known) or "another part", "The engine has no other part.")
    return found
