"""`path=value` on the command line: each changes one place of a recipe before it is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import exists
from typing import Any, get_args

from pydantic import BaseModel

from chainrule.errors import UsageError, did_you_mean
from chainrule.recipe.problems import Path, Problem, Problems, dotted
from chainrule.recipe.registry import names, options
from chainrule.recipe.schema import OneOf, PartOf
from chainrule.recipe.strict_yaml import YamlError, load_yaml

Override = tuple[Path, Any]


def is_override(word: str) -> bool:
    """Whether a word is a change: a folder or file whose name has an equals sign is none."""
    return "=" in word and not exists(word)


def with_changes(words: Sequence[str], otherwise: str = "") -> list[tuple[str, list[str]]]:
    """Each name with the `path=value` that follow it: `rnn rnn model.r.gain=2 lstm` are three.

    `otherwise` says what to try where a change comes first; {} in it is the change.
    """
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if not is_override(word):
            found.append((word, []))
        elif found:
            found[-1][1].append(word)
        else:
            hint = f" {otherwise.replace('{}', word)}" if otherwise else ""
            raise UsageError(f"{word!r} changes a recipe, expected the recipe before it.{hint}")
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
        try:
            found.append((tuple(path.split(".")), load_yaml(value, f"override {text!r}")))
        except YamlError as error:
            problems.append(Problem((), f"{error} Try quotes: {path}='\"...\"'."))
    if problems:
        raise Problems(problems)
    return found


def apply_overrides(data: dict[str, Any], schema: type[BaseModel], overrides: Sequence[Override]) -> list[Problem]:
    """Changes `data` in place; a part that gets another name loses the options of the old one."""
    unknown = {path: unknown_path(schema, path, data) for path, _ in overrides}
    known = [(path, value) for path, value in overrides if unknown[path] is None]
    for path, value in sorted(known, key=lambda each: not _chooses(schema, each[0])):  # names before their options
        _put(data, schema, path, value)
    return [problem for problem in unknown.values() if problem] + _rivals(schema, known)


def _rivals(schema: type[BaseModel], overrides: Sequence[Override]) -> list[Problem]:
    """A problem for each group of which exactly one option is given, and here several are."""
    groups: dict[Path, dict[Path, None]] = {}
    for path, value in overrides:
        given = [(*path, name) for name in value] if isinstance(value, dict) else [path]
        groups.setdefault(path if isinstance(value, dict) else path[:-1], {}).update(dict.fromkeys(given))
    return [Problem(group, f"{' and '.join(map(dotted, given))} are both given, expected one of them.")
            for group, given in groups.items() if len(given) > 1 and _is_one_of(schema, group)]


def _is_one_of(schema: type[BaseModel], path: Path) -> bool:
    return any(isinstance(mark, OneOf) for mark in _marks(schema, path))


def unknown_path(schema: type[BaseModel], path: Path, data: dict[str, Any] | None = None) -> Problem | None:
    """A problem with a suggestion where the schema has no such place; a part's options are checked with the part.

    `data` is the recipe: the options of the parts that it names are suggested too.
    """
    fields: type[BaseModel] | None = schema
    for depth, step in enumerate(path):
        if fields is None:
            return Problem(path, f"no option {{}}: {dotted(path[:depth])} has no options of its own.")
        if step not in fields.model_fields:
            elsewhere = [place for place in _places(schema) if place.endswith(f".{path[-1]}")]
            elsewhere += _of_parts(schema, str(path[-1]), data or {})
            return Problem(path, f"no option {{}}.{did_you_mean(str(step), fields.model_fields)}" if not elsewhere else
                           f"no option {{}}. Did you mean {elsewhere[0]!r}?")
        if kind_of(schema, path[:depth + 1]):
            return None
        fields = next(_models(fields.model_fields[str(step)].annotation), None)
    return None


def _places(schema: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every dotted path of a schema."""
    for name, field in schema.model_fields.items():
        yield prefix + name
        for inner in _models(field.annotation):
            yield from _places(inner, f"{prefix}{name}.")


def _of_parts(schema: type[BaseModel], option: str, data: dict[str, Any]) -> list[str]:
    """The places of such an option in the parts that a recipe names: `tokenizer.min_count`."""
    found = []
    for place in _places(schema):
        kind, here = kind_of(schema, tuple(place.split("."))), data
        for step in place.split("."):
            here = here.get(step, {}) if isinstance(here, dict) else {}
        name = _name(here)
        if kind and name in names(kind) and option in options(kind, name):
            found.append(f"{place}.{option}")
    return found


def kind_of(schema: type[BaseModel], path: Path) -> str | None:
    """The kind of part that is chosen at a path, if one is."""
    return next((mark.kind for mark in _marks(schema, path) if isinstance(mark, PartOf)), None)


def _marks(schema: type[BaseModel], path: Path) -> list[Any]:
    """What the schema says about the place, beside its type."""
    field = _field(schema, path)
    return field.metadata if field else []


def _default(schema: type[BaseModel], path: Path) -> Any:
    """The name of the part that is there when the recipe names none."""
    field = _field(schema, path)
    return _name(field.default) if field and isinstance(field.default, dict | str) else None


def _field(schema: type[BaseModel], path: Path) -> Any:
    fields: type[BaseModel] | None = schema
    for step in path[:-1]:
        field = fields.model_fields.get(str(step)) if fields else None
        fields = next(_models(field.annotation), None) if field else None
    return fields.model_fields.get(str(path[-1])) if fields and path else None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models inside an annotation such as `Options | None`."""
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each


def _chooses(schema: type[BaseModel], path: Path) -> bool:
    return bool(kind_of(schema, path) or (path[-1] == "name" and kind_of(schema, path[:-1])))


def _put(data: dict[str, Any], schema: type[BaseModel], path: Path, value: Any) -> None:
    if path[-1] == "name" and kind_of(schema, path[:-1]):
        path, value = path[:-1], {"name": value}
    here: Any = data
    for depth, step in enumerate(path[:-1]):
        inner = here.get(step)
        if kind_of(schema, path[:depth + 1]):
            inner = inner or _default(schema, path[:depth + 1])  # options of the usual part
            inner = {"name": inner} if isinstance(inner, str) else inner
        here[step] = dict(inner) if isinstance(inner, dict) else {}
        here = here[step]
    if _is_one_of(schema, path[:-1]):
        here.clear()
    if kind_of(schema, path) and _name(here.get(path[-1])) == _name(value):
        value = _merged(here.get(path[-1]), value)
    here[path[-1]] = value


def _name(choice: Any) -> Any:
    return choice.get("name") if isinstance(choice, dict) else choice


def _merged(old: Any, new: Any) -> Any:
    """The same part named again keeps its options."""
    return {**(old if isinstance(old, dict) else {"name": old}), **(new if isinstance(new, dict) else {"name": new})}
