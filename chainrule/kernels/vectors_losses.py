"""Gradients of the losses: noise words, a tree or the whole softmax; equals chainrule.vectors.reference."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_blocks import (
    add_row,
    address,
    copy_row,
    inner_product,
    logistic,
    set_product,
    transpose,
)
from chainrule.kernels.vectors_wide import four_products, teach_four, weigh_row

ZERO, ONE, FIRST = np.float32(0), np.float32(1), np.int64(0)


@kernel()
def push_apart(hidden, rows, dimension, weights, noise, shared, scores, turned, change, noise_change):
    """Noise words, the same for the whole block: −α w_i σ(h_i · n_k) for each, as three small matrix products.

    `turned` has room for the transpose of the noise: with it the first product needs no sums across lanes.
    """
    transpose(turned, noise)
    set_product(scores, hidden, turned, rows, shared, dimension, False)
    for i in range(rows):
        weigh_row(address(scores, i), np.uintp(scores.shape[1]), -weights[i])  # type: ignore[call-arg]
    set_product(change, scores, noise, rows, dimension, shared, False)
    set_product(noise_change, scores, hidden, shared, dimension, rows, True)


@kernel(fastmath=True)
def pull_together(hidden, i, targets, low, high, own, alpha, table, change, target_change):
    """The words that are really there, rows low to high of `targets` but for `own`: α (1 − σ(h · o)) for each."""
    j, width = low, np.uintp(hidden.shape[1])
    while high - j > 1:
        s0, s1, s2, s3 = four_products(address(hidden, i), address(targets, j), width)  # type: ignore
        g0 = ZERO if j == own else alpha * (ONE - logistic(table, s0))
        g1 = ZERO if j + 1 == own else alpha * (ONE - logistic(table, s1))
        g2 = ZERO if j + 2 == own or j + 2 >= high else alpha * (ONE - logistic(table, s2))
        g3 = ZERO if j + 3 == own or j + 3 >= high else alpha * (ONE - logistic(table, s3))
        teach_four(address(hidden, i), address(change, i), address(targets, j), address(target_change, j), width,
                   g0, g1, g2, g3)
        j += 4
    if j < high and j != own:
        g = alpha * (ONE - logistic(table, inner_product(hidden, i, targets, j)))
        add_row(change, i, targets, j, g)
        add_row(target_change, j, hidden, i, g)


@kernel()
def down_the_tree(hidden, i, nodes, codes, alpha, table, outputs, change, before):
    """p(w|h) = Π σ(±h · n) over the nodes n on the way to w; each is moved by α (1 − code − σ(h · n))."""
    for step in range(len(nodes)):
        node = np.int64(nodes[step])
        g = alpha * (ONE - np.float32(codes[step]) - logistic(table, inner_product(hidden, i, outputs, node)))
        copy_row(before, FIRST, outputs, node)
        add_row(outputs, node, hidden, i, g)
        add_row(change, i, before, FIRST, g)


@kernel(fastmath=True)
def whole_softmax(hidden, i, words, own, alpha, outputs, change, chances):
    """p(w|h) = exp(h · o_w) / Σ_v exp(h · o_v), all of it: each output is moved by α (count − total · p)."""
    largest, total, pairs = np.float32(-np.inf), ZERO, ZERO
    for v in range(len(outputs)):
        chances[v] = inner_product(hidden, i, outputs, v)
        largest = max(largest, chances[v])
    for v in range(len(outputs)):
        chances[v] = np.exp(chances[v] - largest)
        total += chances[v]
    for j in range(len(words)):
        if j != own:
            pairs += ONE
    for v in range(len(outputs)):
        chances[v] = -alpha * pairs * chances[v] / total
    for j in range(len(words)):
        if j != own:
            chances[words[j]] += alpha
    for v in range(len(outputs)):
        add_row(change, i, outputs, v, chances[v])
        add_row(outputs, v, hidden, i, chances[v])
