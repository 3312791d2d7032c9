"""The tree of labels for the hierarchical softmax, the same as fastText's, so that models can be exchanged."""

from __future__ import annotations

import numpy as np

from chainrule.vectors.huffman import Tree


def label_tree(counts: np.ndarray) -> Tree:
    """Huffman's tree of labels by falling count; equal counts are joined in fastText's order (`Loss::buildTree`).

    A label's turn is 0 where the probability is σ(h · o), which is fastText's right, and 1 where it is σ(−h · o).
    """
    size = len(counts)
    weight = [*counts.tolist(), *[float("inf")] * size]
    parent, turn = [0] * (2 * size), [1] * (2 * size)
    leaf, inner = size - 1, size
    for made in range(size, 2 * size - 1):
        pair = []
        for _ in range(2):
            if leaf >= 0 and weight[leaf] < weight[inner]:
                pair.append(leaf)
                leaf -= 1
            else:
                pair.append(inner)
                inner += 1
        weight[made] = weight[pair[0]] + weight[pair[1]]
        parent[pair[0]] = parent[pair[1]] = made
        turn[pair[1]] = 0
    return _ways(size, parent, turn)


def _ways(size: int, parent: list[int], turn: list[int]) -> Tree:
    """Each label's inner nodes and turns; the root first."""
    starts, nodes, codes, root = [0], list[int](), list[int](), 2 * size - 2
    for label in range(size):
        way, node = [], label
        while node != root:
            way.append((parent[node] - size, turn[node]))
            node = parent[node]
        nodes += [each for each, _ in reversed(way)]
        codes += [each for _, each in reversed(way)]
        starts.append(len(nodes))
    return Tree(np.array(starts, np.int64), np.array(nodes, np.int32), np.array(codes, np.uint8))


def tree_tensors(tree: Tree) -> dict[str, np.ndarray]:
    """What a run keeps of a tree; nothing of an empty one."""
    return {"tree_starts": tree.starts, "tree_nodes": tree.nodes, "tree_codes": tree.codes} if len(tree.nodes) else {}
