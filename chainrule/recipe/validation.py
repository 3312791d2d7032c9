"""From pydantic's list of errors to one line each, with path and suggestion."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import BaseModel, ValidationError

from chainrule.recipe.overrides import unknown_path
from chainrule.recipe.problems import Path, Problem, Problems
from chainrule.recipe.wording import expected_in_words


def problems_of(error: ValidationError, schema: type[BaseModel], data: Any) -> list[Problem]:
    """All of them, in pydantic's order; the branches of a union (`int or None`) become one line."""
    found: dict[Path, list[Problem]] = {}
    for each in error.errors():
        for problem in _translated(each, _path_in(data, each), schema):
            found.setdefault(problem.path, []).append(problem)
    return [_joined(group) for group in found.values()]


def _path_in(data: Any, each: Any) -> Path:
    """The error's place in the data, without the names of types that pydantic puts in for the branches of a union."""
    path: list[str | int] = []
    for step in each["loc"]:
        known = isinstance(data, dict) and step in data or isinstance(data, list) and isinstance(step, int)
        if known or each["type"] == "missing" and step == each["loc"][-1]:
            path.append(step)
            data = data[step] if known else None
    return tuple(path)


def _translated(each: Any, path: Path, schema: type[BaseModel]) -> list[Problem]:
    got, kind = each["input"], each["type"]
    raised = each.get("ctx", {}).get("error")
    if isinstance(raised, Problems):
        return [problem.under(path) for problem in raised.problems]
    if kind == "extra_forbidden":
        return [unknown_path(schema, path) or Problem(path, "no option {}.")]
    if kind == "missing":
        return [Problem(path, "{} is missing.")]
    if kind == "value_error":
        return [Problem(path, f"{{}} = {_short(got)}, expected {str(raised).removeprefix('expected ').rstrip('.')}.")]
    return [Problem(path, f"{{}} = {_short(got)}, expected {expected_in_words(each)}.{_suggestion(each, got)}")]


def _suggestion(each: Any, got: Any) -> str:
    choices = each.get("ctx", {}).get("expected", "") if each["type"] == "literal_error" else ""
    known = [word.strip("'") for word in choices.replace(" or ", ", ").split(", ")]
    near = difflib.get_close_matches(str(got), known, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _joined(group: list[Problem]) -> Problem:
    """`x = 'a', expected a whole number.` and `…, expected None.` as one sentence."""
    if len(group) == 1 or not all(", expected " in problem.sentence for problem in group):
        return group[0]
    first = group[0].sentence.rstrip(".")
    rest = [problem.sentence.partition(", expected ")[2].rstrip(".") for problem in group[1:]]
    return Problem(group[0].path, " or ".join(dict.fromkeys([first, *rest])) + ".")
