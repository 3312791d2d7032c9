"""Strict YAML: `1e-3` is a number, `no` is a word, a repeated key is an error, nothing is executed."""

from __future__ import annotations

import re
from typing import Any

import yaml

from chainrule.errors import UsageError
from chainrule.recipe.problems import Path

INTEGER = re.compile(r"[-+]?[0-9]+$|0x[0-9a-fA-F]+$|0o[0-7]+$")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$")
BOOLEAN = re.compile(r"(true|True|TRUE|false|False|FALSE)$")
NOTHING = re.compile(r"(~|null|Null|NULL|)$")
TAG = "tag:yaml.org,2002:"


class YamlError(UsageError):
    """`file, line n: what is wrong.`"""


def load_yaml(text: str, where: str = "") -> Any:
    """The value of one YAML document (the core schema of YAML 1.2, without aliases)."""
    return load_with_lines(text, where)[0]


def load_with_lines(text: str, where: str = "") -> tuple[Any, dict[Path, int]]:
    """The value, and the line of each of its paths, for messages."""
    loader = None
    lines: dict[Path, int] = {}
    try:
        loader = _Loader(text)  # refuses unprintable characters at once
        node = loader.get_single_node()
        return (_value(node, (), lines) if node else None), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise YamlError(_placed(where, mark.line + 1 if mark else None, said)) from None
    except yaml.reader.ReaderError as error:
        line, code = text.count("\n", 0, error.position) + 1, ord(text[error.position])
        raise YamlError(_placed(where, line, f"the character U+{code:04X} is not allowed")) from None
    except RecursionError:
        raise YamlError(_placed(where, None, "nested too deeply")) from None
    finally:
        if loader:
            loader.dispose()


def dump_yaml(value: Any) -> str:
    """Text that `load_yaml` (and any YAML 1.1 or 1.2 reader) reads as the same value; lists of scalars on one line."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Loader(yaml.SafeLoader):
    """Composes nodes; plain scalars get the tags of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, Any] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.MarkedYAMLError(problem="anchors and aliases are not used here", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """Quotes every word that YAML 1.1 or our loader would take for something else."""


def _flow_lists(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    flat = not any(isinstance(item, list | dict) for item in value)
    return dumper.represent_sequence(f"{TAG}seq", value, flow_style=flat)


_Dumper.add_representer(list, _flow_lists)
for _kind, _pattern in [("null", NOTHING), ("bool", BOOLEAN), ("int", INTEGER), ("float", FLOAT)]:
    _Loader.add_implicit_resolver(TAG + _kind, _pattern, None)
    _Dumper.add_implicit_resolver(TAG + _kind, _pattern, None)


def _value(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
        return [_value(item, (*path, i), lines) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and node.tag.removeprefix(TAG) in _SCALARS:
        try:
            return _SCALARS[node.tag.removeprefix(TAG)](node.value)
        except ValueError as error:  # only with an explicit tag: `!!int ten`
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from None
    raise yaml.MarkedYAMLError(problem=f"the tag {node.tag} is not allowed", problem_mark=node.start_mark)


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int]) -> dict[str, Any]:
    if node.tag != f"{TAG}map":
        raise yaml.MarkedYAMLError(problem=f"the tag {node.tag} is not allowed", problem_mark=node.start_mark)
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key must be a word", problem_mark=key_node.start_mark)
        if key in found:
            first = lines[(*path, key)]
            raise yaml.MarkedYAMLError(problem=f"the key {key!r} is already on line {first}",
                                       problem_mark=key_node.start_mark)
        lines[(*path, key)] = key_node.start_mark.line + 1
        found[key] = _value(value_node, (*path, key), lines)
    return found


def _integer(text: str) -> int:
    return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: dict[str, Any] = {"str": str, "int": _integer, "float": _float, "null": lambda text: None,
                            "bool": lambda text: text.lower() == "true"}


def _placed(where: str, line: int | None, problem: str) -> str:
    place = ", ".join(part for part in (where, f"line {line}" if line else "") if part)
    return f"{place + ': ' if place else ''}not YAML as recipes use it: {problem}."
