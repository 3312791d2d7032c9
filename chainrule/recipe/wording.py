"""What an option may be, in words: from type annotations, and from pydantic's errors."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

WORDS: dict[Any, tuple[str, str]] = {  # one, and several
    int: ("a whole number", "whole numbers"), float: ("a number", "numbers"), bool: ("true or false", "true or false"),
    str: ("text", "texts"), list: ("a list", "lists"), tuple: ("a list", "lists"), dict: ("a mapping", "mappings"),
    type(None): ("None", "None"), Any: ("a value", "values"),
}
BOUNDS = {"greater_than_equal": ("ge", "at least"), "greater_than": ("gt", "above"),
          "less_than_equal": ("le", "at most"), "less_than": ("lt", "less than"),
          "multiple_of": ("multiple_of", "a multiple of")}
LENGTHS = {"too_short": ("min_length", "at least"), "too_long": ("max_length", "at most")}
KINDS = {"int": int, "float": float, "bool": bool, "string": str, "list": list, "tuple": tuple, "dict": dict,
         "model": dict, "none": type(None)}


def type_in_words(hint: Any) -> str:
    """`int | None` as `a whole number or None`, `tuple[int, int]` as `a list of 2 whole numbers`."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inside))
    if origin in (Union, UnionType):
        return " or ".join(type_in_words(each) for each in inside)
    if origin in (list, tuple) and inside:
        kinds = {each for each in inside if each is not ...}
        many = f"{len(inside)} " if origin is tuple and ... not in inside else ""
        return f"a list of {many}{WORDS.get(kinds.pop(), ('', 'values'))[1] if len(kinds) == 1 else 'values'}"
    plain = origin or hint
    return WORDS[plain][0] if plain in WORDS else getattr(plain, "__name__", str(plain))


def expected_in_words(error: Any) -> str:
    """What one of pydantic's errors (an entry of `errors()`) expected: `at least 1`, `a whole number`."""
    kind, said = error["type"], error.get("ctx", {})
    if kind in BOUNDS:
        key, words = BOUNDS[kind]
        return f"{words} {_number(said[key])}"
    if kind in LENGTHS:
        key, words = LENGTHS[kind]
        return f"{words} {said[key]} of them"
    if kind == "finite_number":
        return "a finite number"
    if (known := KINDS.get(kind.partition("_")[0])) and kind.partition("_")[2] in (
            "type", "parsing", "from_float", "required", "parsing_size", "attributes_type"):
        return WORDS[known][0]
    return error["msg"].replace("Input should be ", "").replace("Value error, ", "").rstrip(".")


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)
