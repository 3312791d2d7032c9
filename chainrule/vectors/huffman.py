"""Huffman's code of the vocabulary: frequent words have short ways down the tree of the hierarchical softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tree:
    """Word w's inner nodes and its turns there, nodes[starts[w]:starts[w + 1]] and codes likewise; the root first."""

    starts: np.ndarray
    nodes: np.ndarray
    codes: np.ndarray


def no_tree() -> Tree:
    """For losses that need none."""
    return Tree(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8))


def huffman(counts: np.ndarray) -> Tree:
    """The code with the least Σ c(w) · length(w): Huffman 1952, with two queues in linear time after sorting."""
    size = len(counts)
    order = np.argsort(counts, kind="stable").tolist()
    weight = counts.tolist() + [0] * (size - 1)
    parent, turn = [0] * (2 * size - 1), [0] * (2 * size - 1)
    leaf, inner = 0, size
    for made in range(size, 2 * size - 1):
        for side in (0, 1):
            if leaf < size and (inner >= made or weight[order[leaf]] <= weight[inner]):
                child, leaf = order[leaf], leaf + 1
            else:
                child, inner = inner, inner + 1
            parent[child], turn[child] = made, side
            weight[made] += weight[child]
    return _paths(size, parent, turn)


def _paths(size: int, parent: list[int], turn: list[int]) -> Tree:
    starts, nodes, codes, root = [0], [], [], 2 * size - 2
    for word in range(size):
        way, code, node = [], [], word
        while node != root:
            code.append(turn[node])
            node = parent[node]
            way.append(node - size)
        nodes += way[::-1]
        codes += code[::-1]
        starts.append(len(nodes))
    return Tree(np.array(starts, np.int64), np.array(nodes, np.int32), np.array(codes, np.uint8))
