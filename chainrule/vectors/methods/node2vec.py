"""node2vec: skip-gram over walks on a graph; the data is a list of edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.recipe.registry import part
from chainrule.text.tokenizers.words import Words
from chainrule.vectors.edges import Graph, read_graph
from chainrule.vectors.methods._windows import WindowMethod, objective_of
from chainrule.vectors.text import Source, Text, listed, numbered
from chainrule.vectors.walks import STOP, Walking, walks


@part
class Node2vec(WindowMethod):
    r"""Vectors of the nodes of a graph: random walks are read as sentences, and skip-gram learns from them.

    p(x | t, v) ∝ w(v, x) · α,   α = 1/p for x = t, 1 for x next to t, 1/q for others;   t, v: the last two nodes
    Grover & Leskovec 2016, arXiv:1607.00653; with p = q = 1 DeepWalk, Perozzi et al. 2014, arXiv:1403.6652.
    """

    usual: Mapping[str, float] = {"epochs": 5, "alpha": 0.025, "min_alpha": 0.0001, "sample": 0.0}
    continues: ClassVar[bool] = False

    def __init__(self, *, p: float = 1.0, q: float = 1.0, walks: int = 10, length: int = 80, directed: bool = False,
                 negative: int = 5, ns_exponent: float = 0.75) -> None:
        for name, value in (("p", p), ("q", q), ("walks", walks), ("length", length)):
            if not 0 < value < float("inf"):
                raise OptionError(f"model.method.{name}", value, "a number above 0")
        if length < 2:
            raise OptionError("model.method.length", length, "at least 2", "A walk of one node has no edge.")
        self.walking, self.directed = Walking(p, q, walks, length), directed
        self.objective = objective_of(from_context=False, loss="negative_sampling", negative=negative,
                                      ns_exponent=ns_exponent, where="model.method")

    def read(self, source: Source) -> Text:
        if source.trainer != Words():
            raise OptionError("tokenizer", source.trainer, "words without options", "Nodes are their own tokens.")
        graph = read_graph(source.corpus, directed=self.directed)
        if graph.size < 2:
            raise DataError(f"{source.corpus.name}: one node alone, expected at least 2.")
        return as_text(graph, walks(graph, self.walking, source.seed))


def as_text(graph: Graph, nodes: np.ndarray) -> Text:
    """The walks as a text whose words are the nodes, those met most often first."""
    counts = np.bincount(nodes[nodes >= 0], minlength=graph.size)
    order = np.argsort(-counts, kind="stable")
    id_of = np.full(graph.size + 1, STOP)  # the last stands for −1, a walk's end
    id_of[order] = 3 + np.arange(graph.size)
    ids = id_of[nodes].astype(np.uint16 if graph.size + 3 <= 1 << 16 else np.int32)
    return numbered(ids, listed([graph.names[node].encode() for node in order.tolist()]))
