"""Huffman coding of the vocabulary: frequent words have short paths in the tree of the hierarchical softmax."""

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
    """The ways down the tree with the least Σ c(w) · length(w)."""
    return tree_of(branches(counts))


def branches(counts: np.ndarray) -> np.ndarray:
    """(2V − 2,) 2 · parent + turn of each node but the root; words are nodes 0 to V − 1, the root is the last.

    Huffman 1952, with two queues in linear time after sorting.
    """
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
    return np.array([2 * above + side for above, side in zip(parent[:-1], turn[:-1], strict=True)], np.int32)


def grafted(earlier: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The branches of an earlier tree with new words beside it: rows[w] is word w's earlier row, −1 where it is new.

    A new root parts the earlier tree from a Huffman tree of the new words alone. So inner node i stays inner node i and
    keeps its meaning, which words lie to which side of it; the ways of the earlier words are longer by one turn.
    """
    size, old, new = len(rows), len(earlier) // 2 + 1, np.flatnonzero(rows < 0)
    found, root = np.empty(2 * size - 2, np.int32), 2 * size - 2
    place = np.append(np.argsort(rows, kind="stable")[len(new) :], size + np.arange(old - 1))
    _put(found, place, earlier)
    if len(new):
        found[place[-1]] = 2 * root
        own = np.append(new, size + old - 1 + np.arange(len(new) - 1))
        _put(found, own, branches(counts[new]))
        found[own[-1]] = 2 * root + 1
    return found


def _put(found: np.ndarray, place: np.ndarray, tree: np.ndarray) -> None:
    """Writes a tree into a larger one; place[n] is the number that node n has there."""
    found[place[:-1]] = 2 * place[tree >> 1] + (tree & 1)


def tree_of(tree: np.ndarray) -> Tree:
    """The way to each word."""
    parent, turn, size = (tree >> 1).tolist(), (tree & 1).tolist(), len(tree) // 2 + 1
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
