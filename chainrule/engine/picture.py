"""The computation graph with the value and the gradient at each node, as text for DOT, Mermaid and SVG."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.engine.differentiation import gather, recorded
from chainrule.engine.module import Module, Part, Several
from chainrule.engine.tensor import Parameter, Tensor


@dataclass(frozen=True)
class Node:
    """A tensor in the picture: its name, its value and its gradient."""

    label: str
    kind: str  # input, parameter, constant or module
    value: str
    gradient: str  # empty for a constant
    column: int  # from left to right


@dataclass(frozen=True)
class Graph:
    """Nodes in topological order, and edges from inputs to outputs."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]

    def dot(self) -> str:
        """For Graphviz: `dot -Tsvg`."""
        lines = ["digraph {", "  rankdir=LR", "  node [shape=box fontname=\"sans-serif\"]"]
        for number, node in enumerate(self.nodes):
            text = r"\n".join(json.dumps(line, ensure_ascii=False)[1:-1] for line in _lines(node))
            lines.append(f'  n{number} [label="{text}"{" style=rounded" if node.kind != "module" else ""}]')
        return "\n".join([*lines, *(f"  n{a} -> n{b}" for a, b in self.edges), "}"]) + "\n"

    def mermaid(self) -> str:
        """For a Mermaid block in Markdown."""
        lines = ["graph LR"]
        for number, node in enumerate(self.nodes):
            left, right = ("[", "]") if node.kind == "module" else ("(", ")")
            text = "<br>".join(line.replace('"', "#quot;").replace("<", "#lt;") for line in _lines(node))
            lines.append(f'  n{number}{left}"{text}"{right}')
        return "\n".join([*lines, *(f"  n{a} --> n{b}" for a, b in self.edges)]) + "\n"

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """A picture by itself, without any other program."""
        from chainrule.engine.layout import svg

        return svg(self)


def graph(loss: Tensor, module: Module | None = None) -> Graph:
    """The graph of a single number, after a backward pass that changes no `grad`.

    Tensors are called by their `name`, and parameters by the way to them in the module if that is given.
    """
    names: dict[Tensor, str] = {}
    if module is not None:
        names.update((each, name) for name, each in module.named_parameters().items())
    gradients = gather(loss)
    order = drawn(recorded(loss), loss)
    place = {tensor: number for number, tensor in enumerate(order)}
    columns = _columns(order)
    nodes = tuple(Node(names.get(tensor) or _label(tensor), _kind(tensor), shown(tensor.value),
                       shown(gradients[tensor]) if tensor in gradients else "", columns[tensor]) for tensor in order)
    edges = tuple((place[tensor], place[node]) for node in order for tensor in node.inputs)
    return Graph(nodes, edges)


def drawn(tape: list[Tensor], loss: Tensor) -> list[Tensor]:
    """The tape with its leaves: each before the first that uses it."""
    order: dict[Tensor, None] = {}
    for node in tape:
        for tensor in (*node.inputs, node):
            order.setdefault(tensor)
    return list(order) or [loss]


def shown(value: Any) -> str:
    """A number to four digits; of an array its numbers if they are few, otherwise shape and size."""
    if isinstance(value, dict | Several):
        parts = value.values() if isinstance(value, dict) else value
        return "; ".join(shown(each) for each in parts)
    if value.size == 1:
        return f"{value.item():.4g}"
    if value.ndim == 1 and value.size <= 4:
        return "[" + ", ".join(f"{each:.4g}" for each in value.tolist()) + "]"
    return f"{'×'.join(map(str, value.shape))}, norm {np.linalg.norm(value):.4g}"


def _columns(order: list[Tensor]) -> dict[Tensor, int]:
    """A node stands at its depth, a leaf just before the first that uses it."""
    columns = {node: node.depth for node in order if node.inputs or len(order) == 1}
    for node in order:  # from the least depth to the greatest, so the first user comes first
        for tensor in node.inputs:
            columns.setdefault(tensor, node.depth - 1)
    return columns


def _kind(tensor: Tensor) -> str:
    if tensor.inputs:
        return "module"
    if isinstance(tensor, Parameter):
        return "parameter"
    return "input" if tensor.wants else "constant"


def _label(tensor: Tensor) -> str:
    if tensor.name:
        return tensor.name
    if isinstance(tensor.made_by, Part):
        return f"output {tensor.made_by.place}"
    return type(tensor.made_by).__name__ if tensor.made_by else _kind(tensor)


def _lines(node: Node) -> list[str]:
    return [node.label, f"value {node.value}", *([f"gradient {node.gradient}"] if node.gradient else [])]
