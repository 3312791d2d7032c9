"""`path=value` on the command line: each changes one place of a recipe before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import exists
from typing import Any

from pydantic import BaseModel

from chainrule.errors import UsageError, did_you_mean
from chainrule.recipe.places import all_places, name_of, place_at
from chainrule.recipe.problems import Path, Problem, Problems, dotted
from chainrule.recipe.registry import has, options
from chainrule.recipe.strict_yaml import YamlError, load_yaml


@dataclass(frozen=True)
class Override:
    """One change: its place, its value as YAML has it, and as it was typed."""

    path: Path
    value: Any
    text: str
    problem: Problem | None = None  # why it is not YAML


def is_override(word: str) -> bool:
    """Whether a word is a change: a folder or file whose name has an equals sign is none."""
    return "=" in word and not exists(word)


def with_changes(words: Sequence[str], hint: str = "") -> list[tuple[str, list[str]]]:
    """Each name with the `path=value` that follow it: `rnn rnn model.r.gain=2 lstm` are three.

    `hint` says what to try if a change comes first; {} in it is the change.
    """
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if not is_override(word):
            found.append((word, []))
        elif found:
            found[-1][1].append(word)
        else:
            advice = f" {hint.replace('{}', word)}" if hint else ""
            raise UsageError(f"{word!r} changes a recipe, expected the recipe before it.{advice}")
    return found


def parse_overrides(texts: Sequence[str]) -> list[Override]:
    """`model.prune=[0,0,1]` as a path and a value, read by the same strict YAML as recipes; all errors at once."""
    found: list[Override] = []
    problems = []
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not all(path.split(".")):
            problems.append(Problem((), f"override {text!r}, expected path=value, such as model.order=3."))
            continue
        steps = tuple(path.split("."))
        try:
            found.append(Override(steps, load_yaml(value, f"override {text!r}"), value))
        except YamlError as error:
            found.append(Override(steps, None, value, Problem((), f"{error} Try quotes: {path}='\"...\"'.")))
    if problems:
        raise Problems(problems)
    return found


def apply_overrides(data: dict[str, Any], schema: type[BaseModel], overrides: Sequence[Override]) -> list[Problem]:
    """Changes `data` in place; a part that gets another name loses the options of the old one."""
    problems, known = [], []
    for each in overrides:
        unknown = unknown_path(schema, each.path, data)
        if unknown is not None:
            problems.append(unknown)
        else:
            known.append(each)
    for each in sorted(known, key=lambda one: len(one.path) - (one.path[-1] == "name")):  # a part before its options
        problem = _put(data, schema, each)
        problems += [problem] if problem else []
    return problems + _conflicts(schema, known, data)


def _conflicts(schema: type[BaseModel], overrides: Sequence[Override], data: dict[str, Any]) -> list[Problem]:
    """A problem for each group in which one option is allowed and several are given."""
    groups: dict[Path, dict[Path, None]] = {}
    for each in overrides:
        inside = isinstance(each.value, dict)
        given = [(*each.path, name) for name in each.value] if inside else [each.path]
        groups.setdefault(each.path if inside else each.path[:-1], {}).update(dict.fromkeys(given))
    return [Problem(group, f"{' and '.join(map(dotted, given))} are both given, expected one of them.")
            for group, given in groups.items()
            if len(given) > 1 and (place := place_at(schema, group, data)) and place.one_of]


def unknown_path(schema: type[BaseModel], path: Path, data: dict[str, Any] | None = None) -> Problem | None:
    """A problem with a suggestion where the schema has no such place; a part's options are checked with the part.

    `data` is the recipe: the options of the parts that it names are suggested too.
    """
    here = place_at(schema, (), data)
    assert here is not None
    for depth, step in enumerate(path):
        inner = here.inner(step)
        if inner is None and here.section is None:
            return Problem(path, f"no option {{}}: {dotted(path[:depth])} has no options of its own.")
        if inner is None:
            elsewhere = [place for place in all_places(schema) if place.endswith(f".{path[-1]}")]
            elsewhere += _of_parts(schema, str(path[-1]), data or {})
            known = here.section.model_fields if here.section else ()
            return Problem(path, f"no option {{}}.{did_you_mean(str(step), known)}" if not elsewhere else
                           f"no option {{}}. Did you mean {elsewhere[0]!r}?")
        if inner.kind:
            return None
        here = inner
    return None


def _of_parts(schema: type[BaseModel], option: str, data: dict[str, Any]) -> list[str]:
    """The places of such an option in the parts that a recipe names: `tokenizer.min_count`."""
    found = []
    for text in all_places(schema):
        place = place_at(schema, tuple(text.split(".")), data)
        if place and place.kind and place.given is not None and has(place.kind, place.part) \
                and option in options(place.kind, place.part):
            found.append(f"{text}.{option}")
    return found


def _put(data: dict[str, Any], schema: type[BaseModel], change: Override) -> Problem | None:
    """Writes one change; what is not YAML is still a text, where a text is wanted."""
    path, value = change.path, change.value
    place = place_at(schema, path, data)
    if place is not None and place.annotation is str and not isinstance(value, str):
        value = change.text
    elif change.problem:
        return change.problem
    parent = place_at(schema, path[:-1], data)
    if path[-1] == "name" and parent is not None and parent.kind:
        path, value, place = path[:-1], {"name": value}, parent
        parent = place_at(schema, path[:-1], data)
    here: Any = data
    for depth, step in enumerate(path[:-1]):
        inner, around = here.get(step), place_at(schema, path[:depth + 1], data)
        if around is not None and around.kind:
            inner = inner if inner is not None else around.default  # options of the usual part
            inner = {"name": inner} if isinstance(inner, str) else inner
        here[step] = dict(inner) if isinstance(inner, dict) else {}
        here = here[step]
    if parent is not None and parent.one_of:
        here.clear()
    if place is not None and place.kind and name_of(here.get(path[-1])) == name_of(value):
        value = _merged(here.get(path[-1]), value)
    here[path[-1]] = value
    return None


def _merged(old: Any, new: Any) -> Any:
    """The same part named again keeps its options."""
    return {**(old if isinstance(old, dict) else {"name": old}), **(new if isinstance(new, dict) else {"name": new})}
