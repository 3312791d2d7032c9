"""The classifier's steps and means over many texts; equals chainrule.classifying.reference, text by text."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_reading import next_random

ZERO, ONE = np.float32(0), np.float32(1)
SOFTMAX, TREE, ONE_VS_ALL, NOISE = 0, 1, 2, 3


@kernel()
def fill_random(table, first, last, width, seed):
    """Rows of numbers between −1/D and 1/D, as fastText begins; each row's own, whatever thread fills it."""
    state = np.empty(1, np.uint64)
    scale = np.float32(2.0 / 2**24 / width)
    for row in range(first, last):
        state[0] = (np.uint64(seed) + np.uint64(row + 1)) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
        next_random(state)
        for d in range(width):
            table[row, d] = np.float32(next_random(state) >> np.uint64(40)) * scale - ONE / np.float32(width)


@kernel(fastmath=True)
def mean_rows(table, members, weights, low, high, size, hidden):
    """hidden = Σ w_i table[i] / size, four rows at a time."""
    for d in range(len(hidden)):
        hidden[d] = ZERO
    m = low
    while m + 4 <= high:
        a, b, c, e = members[m], members[m + 1], members[m + 2], members[m + 3]
        u, v = np.float32(weights[m]), np.float32(weights[m + 1])
        w, x = np.float32(weights[m + 2]), np.float32(weights[m + 3])
        for d in range(len(hidden)):
            hidden[d] += u * table[a, d] + v * table[b, d] + w * table[c, d] + x * table[e, d]
        m += 4
    while m < high:
        weight = np.float32(weights[m])
        for d in range(len(hidden)):
            hidden[d] += weight * table[members[m], d]
        m += 1
    share = ONE / max(size, ONE)
    for d in range(len(hidden)):
        hidden[d] *= share


@kernel()
def all_means(table, starts, members, weights, sizes, out):
    """The mean of each text's rows."""
    for text in range(len(sizes)):
        mean_rows(table, members, weights, starts[text], starts[text + 1], sizes[text], out[text])


@kernel(fastmath=True, error_model="numpy")
def learn_texts(inputs, outputs, starts, members, weights, sizes, label_starts, labels, order, first, last, alpha,
                total, read, own, loss, path_starts, path_nodes, path_codes, noise, negative, seed):
    """A step for each text, for one of its labels at random; the step is α (1 − r / total) after r features.

    Every thread counts its features in its own row of `read`, and looks at those of all. `noise` are the labels' shares
    of negative sampling, summed up, and `negative` is how many are drawn.
    """
    width, classes = inputs.shape[1], len(outputs)
    hidden, change, scores = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(classes, np.float32)
    state = np.empty(1, np.uint64)
    state[0] = seed
    done = np.int64(0)
    for place in range(first, last):
        text, so_far = order[place], np.int64(0)
        low, high, size = starts[text], starts[text + 1], sizes[text]
        for thread in range(len(read)):
            so_far += read[thread, 0]
        step = alpha * np.float32(max(1 - so_far / total, 0.0))
        done += np.int64(size)
        read[own, 0] += np.int64(size)
        if high == low:
            continue
        mean_rows(inputs, members, weights, low, high, size, hidden)
        for d in range(width):
            change[d] = ZERO
        begin, end = label_starts[text], label_starts[text + 1]
        label = labels[begin]
        if end - begin > 1:
            label = labels[begin + np.int64(next_random(state) % np.uint64(end - begin))]
        if loss == SOFTMAX:
            softmax(outputs, hidden, scores)
            for c in range(classes):
                correct(outputs, c, hidden, step * (np.float32(c == label) - scores[c]), change)
        elif loss == TREE:
            for n in range(path_starts[label], path_starts[label + 1]):
                node = path_nodes[n]
                wanted = ONE - np.float32(path_codes[n])
                correct(outputs, node, hidden, step * (wanted - logistic(product(outputs, node, hidden))), change)
        elif loss == NOISE:
            against_noise(outputs, label, hidden, step, noise, negative, state, change)
        else:
            for c in range(classes):
                wanted = ZERO
                for n in range(begin, end):
                    if labels[n] == c:
                        wanted = ONE
                correct(outputs, c, hidden, step * (wanted - logistic(product(outputs, c, hidden))), change)
        share = ONE / size
        for d in range(width):
            change[d] *= share
        for m in range(low, high):
            row, weight = members[m], np.float32(weights[m])
            for d in range(width):
                inputs[row, d] += weight * change[d]
    return done


@kernel()
def against_noise(outputs, label, hidden, step, noise, negative, state, change):
    """The label is wanted, and `negative` others, drawn at random, are not."""
    correct(outputs, label, hidden, step * (ONE - logistic(product(outputs, label, hidden))), change)
    for _ in range(negative):
        other = np.int64(label)
        while other == label:
            other = draw(noise, state)
        correct(outputs, other, hidden, -step * logistic(product(outputs, other, hidden)), change)


@kernel()
def draw(shares, state):
    """A number at random, by shares that are summed up."""
    aim = np.float64(next_random(state) >> np.uint64(11)) / 2.0**53 * shares[-1]
    return np.int64(min(np.searchsorted(shares, aim, side="right"), len(shares) - 1))


@kernel(fastmath=True, error_model="numpy")
def softmax(outputs, hidden, scores):
    """scores[c] = exp(h · o_c) / Σ_k exp(h · o_k)"""
    largest, total = np.float32(-np.inf), ZERO
    for c in range(len(outputs)):
        scores[c] = product(outputs, c, hidden)
        largest = max(largest, scores[c])
    for c in range(len(outputs)):
        scores[c] = np.exp(scores[c] - largest)
        total += scores[c]
    for c in range(len(outputs)):
        scores[c] /= total


@kernel(fastmath=True)
def correct(outputs, row, hidden, amount, change):
    """change += amount · o, then o += amount · h."""
    for d in range(len(hidden)):
        before = outputs[row, d]
        change[d] += amount * before
        outputs[row, d] = before + amount * hidden[d]


@kernel(fastmath=True)
def product(outputs, row, hidden):
    """o · h"""
    total = ZERO
    for d in range(len(hidden)):
        total += outputs[row, d] * hidden[d]
    return total


@kernel(error_model="numpy")
def logistic(x):
    """σ(x)"""
    return ONE / (ONE + np.exp(-x))
