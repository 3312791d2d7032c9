"""Walks over a graph, as if they were sentences: nodes that are met together are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.threads import cores
from chainrule.vectors.edges import Graph
from chainrule.vectors.windows import seed_of

STOP = 2  # the id of a unit's end in a list of words


@dataclass(frozen=True)
class Walking:
    """How walks are made: p large keeps from going back, q small leads away (node2vec); both 1 is DeepWalk."""

    p: float = 1.0
    q: float = 1.0
    walks: int = 10  # from each node
    length: int = 80  # nodes


def walks(graph: Graph, how: Walking, seed: int) -> np.ndarray:
    """Nodes of all walks one after the other, with −1 after each; every pass begins at each node once, shuffled."""
    from chainrule.kernels.vectors_walks import walk
    from chainrule.threads import side_by_side

    found: list[np.ndarray] = [np.zeros(0, np.int64)] * (how.walks * cores())
    shuffled = [np.random.default_rng([seed, n]).permutation(graph.size) for n in range(how.walks)]
    parts = [part for order in shuffled for part in np.array_split(order, cores())]

    def work(number: int) -> None:
        out = np.empty(len(parts[number]) * (how.length + 1), np.int64)
        size = walk(graph.starts, graph.neighbors, graph.sums, parts[number], how.length, how.p, how.q,
                    seed_of(seed, number), -1, out)
        found[number] = out[:size]

    side_by_side(work, range(len(parts)))
    return np.concatenate(found)


def chances(graph: Graph, last: int, here: int, how: Walking) -> np.ndarray:
    """(size,): p(next = x | last, here) ∝ w(here, x) · (1/p if x = last, 1 if x is linked to last, else 1/q).

    Grover & Leskovec 2016, arXiv:1607.00653, §3.2.2; what the walks must follow.
    """
    low, high = graph.starts[here], graph.starts[here + 1]
    weights = np.diff(graph.sums, prepend=0.0)[low:high]
    near = set(graph.neighbors[graph.starts[last] : graph.starts[last + 1]].tolist())
    found = np.zeros(graph.size)
    for x, weight in zip(graph.neighbors[low:high].tolist(), weights.tolist(), strict=True):
        found[x] = weight * (1 / how.p if x == last else 1 if x in near else 1 / how.q)
    return found / found.sum()
