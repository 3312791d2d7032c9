"""The classifier in plain NumPy, as its equations read: the reference for the kernels, and used for small texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.vectors.huffman import Tree
from chainrule.vectors.subwords import fnv1a

SPACES = b"\0\t\v\f\r "
MULTIPLIER = 116049371  # of fastText's hash of word n-grams
Bag = tuple[np.ndarray, np.ndarray, float]  # rows, how often each occurs, and how many features there are in all
TO_SPACE = bytes.maketrans(b"\0", b" ")


def words_of(text: bytes) -> list[bytes]:
    """The words between ASCII white space and NUL, as fastText splits."""
    return text.translate(TO_SPACE).split()


def ngram_buckets(hashes: Sequence[int], longest: int, bucket: int) -> list[int]:
    """The buckets of all n-grams of 2 to `longest` words, by start and then by length.

    h = h(w₁), then h ← 116049371 h + h(w_j) for each further word, modulo 2⁶⁴, where a word's 32-bit hash is taken as a
    signed number: fastText's `addWordNgrams`, to the bit.
    """
    signed = [value - (1 << 32) if value >= 1 << 31 else value for value in hashes]
    found = []
    for first in range(len(signed)):
        h = signed[first] % 2**64
        for j in range(first + 1, min(first + longest, len(signed))):
            h = (h * MULTIPLIER + signed[j]) % 2**64
            found.append(h % bucket)
    return found


def word_hashes(words: Sequence[bytes]) -> list[int]:
    """fastText's hash of each word."""
    return [fnv1a(word) for word in words]


def hidden_of(inputs: np.ndarray, rows: np.ndarray, weights: np.ndarray, size: float) -> np.ndarray:
    """h = Σ_i c_i z_i / n: the mean over the n features of a text, c_i of which are the i-th."""
    return weights @ inputs[rows] / size


def log_chances(hidden: np.ndarray, outputs: np.ndarray, loss: str, tree: Tree) -> np.ndarray:
    """(…, C) ln p(label | h).

    softmax: p(c) = exp(h · o_c) / Σ_k exp(h · o_k)
    hierarchical_softmax: p(c) = Π σ(± h · o_n) over the nodes n on the way to c, + where the turn is 0
    one_vs_all and negative_sampling: p(c) = σ(h · o_c), each label on its own
    """
    scores = hidden @ outputs.T
    if loss == "softmax":
        largest = scores.max(-1, keepdims=True)
        return scores - largest - np.log(np.exp(scores - largest).sum(-1, keepdims=True))
    if loss in ("one_vs_all", "negative_sampling"):
        return -np.logaddexp(0, -scores)
    left = -np.logaddexp(0, -scores)  # ln σ(s); ln σ(−s) = ln σ(s) − s
    turns = np.where(tree.codes, (left - scores)[..., tree.nodes], left[..., tree.nodes])
    if not len(tree.nodes):  # one label, whose way is empty
        return np.zeros((*turns.shape[:-1], len(tree.starts) - 1), turns.dtype)
    return np.add.reduceat(turns, tree.starts[:-1], axis=-1)  # differences of running sums lose digits


def loss_of(hidden: np.ndarray, outputs: np.ndarray, label: int, loss: str, tree: Tree) -> float:
    """−ln p(label), for one_vs_all with −ln (1 − p) of every other label."""
    if loss == "one_vs_all":
        scores = hidden @ outputs.T
        signs = np.where(np.arange(len(outputs)) == label, 1.0, -1.0)
        return float(np.logaddexp(0, -signs * scores).sum())
    return float(-log_chances(hidden, outputs, loss, tree)[label])


def step(inputs: np.ndarray, outputs: np.ndarray, bag: Bag, label: int, alpha: float, loss: str, tree: Tree) -> None:
    """One text, in place: every row moves by −α ∂(−ln p) / ∂row, all taken before any is moved."""
    rows, weights, size = bag
    hidden = hidden_of(inputs, rows, weights, size)
    error, used = _errors(hidden, outputs, label, loss, tree)
    change = alpha * error @ outputs[used]
    outputs[used] += alpha * np.outer(error, hidden)
    inputs[rows] += np.outer(weights / size, change)


def _errors(hidden: np.ndarray, outputs: np.ndarray, label: int, loss: str, tree: Tree
            ) -> tuple[np.ndarray, np.ndarray]:
    """Target minus prediction at each output row involved."""
    if loss == "hierarchical_softmax":
        way = slice(tree.starts[label], tree.starts[label + 1])
        nodes = tree.nodes[way].astype(np.int64)
        return (1 - tree.codes[way]) - 1 / (1 + np.exp(-outputs[nodes] @ hidden)), nodes
    wanted = np.arange(len(outputs)) == label
    return wanted - np.exp(log_chances(hidden, outputs, loss, tree)), np.arange(len(outputs))
