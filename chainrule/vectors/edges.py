"""A graph from a list of edges: two nodes a line, and a weight if it has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.errors import DataError
from chainrule.text.corpora.corpus import Corpus


@dataclass(frozen=True)
class Graph:
    """Node v's neighbors, sorted: neighbors[starts[v]:starts[v + 1]], and the running sums of their weights."""

    names: list[str]
    starts: np.ndarray
    neighbors: np.ndarray
    sums: np.ndarray

    @property
    def size(self) -> int:
        return len(self.names)


def read_graph(corpus: Corpus, *, directed: bool) -> Graph:
    """Nodes are numbered as they first appear; an edge that is listed twice has both weights."""
    numbers: dict[str, int] = {}
    one, other, weights = [], [], []
    for where, line in _lines(corpus):
        fields = fields_of(line)
        if len(fields) not in (2, 3) or not all(fields):
            raise DataError(f"{where}: {line[:60]!r}, expected two nodes and perhaps a weight.")
        weight = _weight(fields[2], where) if len(fields) == 3 else 1.0
        one.append(numbers.setdefault(fields[0], len(numbers)))
        other.append(numbers.setdefault(fields[1], len(numbers)))
        weights.append(weight)
    if not one:
        raise DataError(f"{corpus.name}: there is no edge in it.")
    return graph_of(list(numbers), np.array([one, other]), np.array(weights), directed=directed)


def fields_of(line: str) -> list[str]:
    """At tabs where there is one, else at commas, else at white space: `New York<TAB>Rome` are two nodes."""
    mark = next((each for each in "\t," if each in line), None)
    return [field.strip() for field in line.split(mark)]


def graph_of(names: list[str], edges: np.ndarray, weights: np.ndarray, *, directed: bool) -> Graph:
    """A graph from (2, edges) numbers of nodes."""
    size = len(names)
    keys = edges[0] * size + edges[1]
    if not directed:
        apart = edges[0] != edges[1]
        keys = np.concatenate([keys, (edges[1] * size + edges[0])[apart]])
        weights = np.concatenate([weights, weights[apart]])
    unique, which = np.unique(keys, return_inverse=True)
    total = np.bincount(which, weights, len(unique))
    starts = np.searchsorted(unique, np.arange(size + 1) * size)
    return Graph(names, starts.astype(np.int64), (unique % size).astype(np.int64), np.cumsum(total))


def _lines(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Lines that are neither blank nor a comment, each with where it stands; one may be cut between two chunks."""
    rest, first = b"", 1
    for chunk in corpus.chunks():
        first = first if rest else chunk.line
        *whole, rest = (rest + chunk.data + (b"\n" if chunk.ends_document else b"")).split(b"\n")
        for number, raw in enumerate(whole, start=first):
            line = raw.decode().strip()
            if line and not line.startswith(("#", "%")):
                yield f"{chunk.source}: line {number}", line
        first += len(whole)


def _weight(text: str, where: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = float("nan")
    if not 0 < weight < float("inf"):
        raise DataError(f"{where}: weight {text!r}, expected a number above 0. A heading begins with #; nodes whose "
                        "names have spaces are separated by tabs or commas.")
    return weight
