"""The options of a part, read from its file: the keyword-only parameters of its constructor.

So a recipe is checked without importing what it names; parts of neural models would bring torch with them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

PACKAGE, ROOT = "chainrule", Path(__file__).parents[1]
TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool, "str": str, "list": list, "tuple": tuple,
                         "dict": dict, "Any": Any, "None": None}
Names = Mapping[str, ast.expr]


@dataclass(frozen=True)
class Option:
    """What a recipe may set: its default, or MISSING, and the type that its annotation names."""

    default: Any
    hint: Any


MISSING = object()


def declared(path: Path) -> dict[str, Option] | None:
    """The options of the part in a file; None if they cannot be read from the source and it must be imported."""
    return _declared(path, path.stat().st_mtime_ns)


@cache
def _declared(path: Path, changed: int) -> dict[str, Option] | None:
    tree = _parsed(path, changed)
    marked = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and is_marked(node)]
    if len(marked) != 1:
        return None
    try:
        home, function = _constructor(path, marked[0]) if isinstance(marked[0], ast.ClassDef) else (path, marked[0])
        given = function.args
        return {each.arg: Option(MISSING if default is None else _value(default, _constants(home)),
                                 Any if each.annotation is None else _type(each.annotation, _constants(home)))
                for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)}
    except (LookupError, ValueError):
        return None


def is_marked(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "part" for each in node.decorator_list)


@cache
def _parsed(path: Path, changed: int) -> ast.Module:
    """The syntax tree of a file in the state of that time."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _body(path: Path) -> list[ast.stmt]:
    return _parsed(path, path.stat().st_mtime_ns).body


def _constructor(path: Path, node: ast.ClassDef) -> tuple[Path, ast.FunctionDef]:
    """The `__init__` of a class or of the base that it has it from, and the file in which that stands."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return path, each
    if len(node.bases) != 1 or len(node.decorator_list) > is_marked(node):
        raise LookupError(node.name)
    return _constructor(*_class(path, ast.unparse(node.bases[0])))


def _class(path: Path, name: str) -> tuple[Path, ast.ClassDef]:
    """A class by its name in a file: made there, or imported from another file of the package."""
    for node in _body(path):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return path, node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            for each in node.names:
                if (each.asname or each.name) == name:
                    return _class((ROOT.parent / (node.module or "").replace(".", "/")).with_suffix(".py"), each.name)
    raise LookupError(name)


def _constants(path: Path) -> Names:
    """What plain assignments of a file give a name to."""
    return {node.targets[0].id: node.value for node in _body(path)
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)}


def _value(node: ast.expr, names: Names) -> Any:
    return _value(names[node.id], names) if isinstance(node, ast.Name) else ast.literal_eval(node)


def _type(node: ast.expr, names: Names) -> Any:
    """`int | None`, `Literal["a", "b"]`, `tuple[int, ...]`, `Annotated[Choice, PartOf(kind)]` and names for such."""
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=value) if value is ...:
            return ...
        case ast.Name(id=name):
            return TYPES[name] if name in TYPES else _type(names[name], names)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _type(left, names) | _type(right, names)
        case ast.Subscript(value=ast.Name(id="Annotated"),
                           slice=ast.Tuple(elts=[_, ast.Call(func=ast.Name(id="PartOf"), args=given)])):
            from chainrule.recipe.choices import PartOf

            return PartOf(*map(ast.literal_eval, given))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            choices = ast.literal_eval(inside)
            return Literal[choices]
        case ast.Subscript(value=ast.Name(id=name), slice=inside):
            many = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return TYPES[name][tuple(_type(each, names) for each in many)]
    raise LookupError(ast.unparse(node))
