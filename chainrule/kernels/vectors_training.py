"""One chunk of text through skip-gram or CBOW, without the GIL; equals chainrule.vectors.reference.learn_chunk.

As pWord2Vec (Ji et al. 2016, arXiv:1604.04661) does for one window, a block of centers shares its noise words, so that
inner products become small matrix products. All rows of a block are read first and written last.
"""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_blocks import (
    add_row,
    address,
    clear,
    copy_row,
    fetch_rows,
    gather,
    inner_product,
    logistic,
    rows_of,
    scatter,
)
from chainrule.kernels.vectors_losses import down_the_tree, pull_together, push_apart, whole_softmax
from chainrule.kernels.vectors_reading import draw, read_words
from chainrule.kernels.vectors_wide import combine_wide, settle_wide, sum_wide

NEGATIVE_SAMPLING, HIERARCHICAL_SOFTMAX, SOFTMAX = 0, 1, 2
NO_BAGS, NO_MEMBERS = np.zeros(0, np.int64), np.zeros(0, np.int32)
ONE, FIRST = np.float32(1), np.int64(0)


@kernel()
def learn_chunk(ids, row_of, keep, window, alpha, seed, from_context, loss, inputs, outputs, dimension, bag_starts,
                bag_members, sums, guide, negative, shared, block, path_starts, path_nodes, path_codes, table):
    """Moves inputs and outputs along the gradient of every window in the ids; gives the number of words read."""
    state = np.array([seed], np.uint64)
    words, lows, highs = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    kept, seen = read_words(ids, row_of, keep, window, state, words, lows, highs)
    width, halo = inputs.shape[1], block + 2 * window + 16
    hidden, change, around, around_change = (rows_of(halo, width), rows_of(halo, width), rows_of(halo, width),
                                             rows_of(halo, width))
    whole = -(-shared // 16) * 16
    noise, noise_change = rows_of(whole, width), rows_of(whole, width)
    scores, turned = rows_of(block + 8, whole), rows_of(width, whole)
    drawn, spare = np.empty(shared, np.int64), rows_of(2, width)
    sizes, weights = np.zeros(halo, np.int64), np.zeros(block, np.float32)
    logits, before = np.empty(len(outputs) if loss == SOFTMAX else 0, np.float32), np.zeros((1, width), np.float32)
    for first in range(0, kept, block):
        last = min(first + block, kept)
        low, high = max(first - window, 0), min(last + window, kept)
        coming = words[high:min(high + block, kept)]
        fetch_rows(inputs, bag_starts, bag_members, coming)
        if loss == NEGATIVE_SAMPLING:
            fetch_rows(outputs, NO_BAGS, NO_MEMBERS, coming)
        read_hidden(inputs, bag_starts, bag_members, words, lows, highs, first, last, low, high, from_context,
                    hidden, around, around_change, sizes)
        clear(hidden, last - first, (last - first + 7) // 8 * 8)
        if loss == NEGATIVE_SAMPLING:
            draw(sums, guide, state, drawn)
            for k in range(shared):
                copy_row(noise, k, outputs, drawn[k])
            for i in range(last - first):
                pairs = highs[first + i] - lows[first + i] - 1
                pairs = min(pairs, 1) if from_context else pairs
                weights[i] = alpha * np.float32(negative) * np.float32(pairs) / np.float32(shared)
            push_apart(hidden, last - first, dimension, weights, noise, shared, scores, turned, change, noise_change)
            if from_context:
                teach_centers(outputs, words, lows, highs, first, last, alpha, table, hidden, change, weights)
            else:
                teach_around(outputs, words, lows, highs, first, last, low, high, alpha, table, hidden, around, change,
                             around_change)
            for k in range(shared):
                add_row(outputs, drawn[k], noise_change, k, ONE)
        else:
            clear(change, FIRST, last - first)
            teach_whole(loss, outputs, words, lows, highs, first, last, from_context, alpha, table, path_starts,
                        path_nodes, path_codes, hidden, change, logits, before)
        write_hidden(inputs, bag_starts, bag_members, words, lows, highs, first, last, low, high, from_context,
                     change, around, around_change, spare)
    return seen


@kernel()
def read_hidden(inputs, starts, members, words, lows, highs, first, last, low, high, from_context, hidden, around,
                sums, sizes):
    """Skip-gram: the mean of a center's rows. CBOW: the mean of the rows of the words around it."""
    if not from_context:
        gather(inputs, starts, members, words[first:last], hidden)
        if len(starts):
            for i in range(last - first):
                divide(hidden, i, np.float32(starts[words[first + i] + 1] - starts[words[first + i]]))
        return
    if len(starts):
        gather(inputs, starts, members, words[low:high], around)
    sum_windows(inputs, around, starts, words, lows, highs, first, last, low, high, hidden, sums, sizes)


@kernel()
def sum_windows(inputs, around, starts, words, lows, highs, first, last, low, high, hidden, sums, sizes):
    """The mean over each window without its middle, from running sums: the same work for any width of window."""
    sizes[0], width = 0, np.uintp(sums.shape[1])
    clear(sums, FIRST, FIRST + 1)
    for j in range(high - low):
        word = words[low + j]
        sizes[j + 1] = sizes[j] + (starts[word + 1] - starts[word] if len(starts) else 1)
        row = address(around, j) if len(starts) else address(inputs, word)
        sum_wide(address(sums, j + 1), address(sums, j), row, width)  # type: ignore[call-arg]
    for i in range(last - first):
        begin, end, own = lows[first + i] - low, highs[first + i] - low, first + i - low
        rows = sizes[end] - sizes[begin] - (sizes[own + 1] - sizes[own])
        row = address(around, own) if len(starts) else address(inputs, words[first + i])
        combine_wide(address(hidden, i), address(sums, end), address(sums, begin), row,  # type: ignore[call-arg]
                     width, np.float32(1) / np.float32(max(rows, 1)))


@kernel()
def divide(table, row, by):
    """table[row] /= by, where by is not 0"""
    if by > 1:
        for d in range(table.shape[1]):
            table[row, d] /= by


@kernel()
def teach_around(outputs, words, lows, highs, first, last, low, high, alpha, table, hidden, around, change,
                 around_change):
    """Skip-gram: every word around a center."""
    for j in range(low, high):
        copy_row(around, j - low, outputs, words[j])
    clear(around_change, FIRST, high - low)
    for center in range(first, last):
        pull_together(hidden, center - first, around, lows[center] - low, highs[center] - low, center - low, alpha,
                      table, change, around_change)
    for j in range(low, high):
        add_row(outputs, words[j], around_change, j - low, ONE)


@kernel()
def teach_centers(outputs, words, lows, highs, first, last, alpha, table, hidden, change, pulls):
    """CBOW: the center itself, where there is a word around it."""
    for i in range(last - first):
        word = words[first + i]
        there = highs[first + i] - lows[first + i] > 1
        pulls[i] = alpha * (ONE - logistic(table, inner_product(hidden, i, outputs, word))) if there else np.float32(0)
        add_row(change, i, outputs, word, pulls[i])
    for i in range(last - first):
        add_row(outputs, words[first + i], hidden, i, pulls[i])


@kernel()
def teach_whole(loss, outputs, words, lows, highs, first, last, from_context, alpha, table, path_starts, path_nodes,
                path_codes, hidden, change, logits, before):
    """Without noise words: the tree or the whole softmax, one center after another."""
    for i in range(last - first):
        center = first + i
        if highs[center] - lows[center] == 1:  # a word alone
            continue
        begin, end = (center, center + 1) if from_context else (lows[center], highs[center])
        own = -1 if from_context else center - begin
        if loss == SOFTMAX:
            whole_softmax(hidden, i, words[begin:end], own, alpha, outputs, change, logits)
            continue
        for j in range(begin, end):
            if j - begin != own:
                path = slice(path_starts[words[j]], path_starts[words[j] + 1])
                down_the_tree(hidden, i, path_nodes[path], path_codes[path], alpha, table, outputs, change, before)


@kernel()
def write_hidden(inputs, starts, members, words, lows, highs, first, last, low, high, from_context, change, around,
                 around_change, spare):
    """Every row that a hidden vector was the mean of takes the whole change, as in word2vec and fastText."""
    if not from_context:
        scatter(inputs, starts, members, words[first:last], change)
        return
    clear(around_change, FIRST, high - low + 1)
    for i in range(last - first):  # a window's first row begins to take the change, the row after its last ends it
        add_row(around_change, lows[first + i] - low, change, i, ONE)
        add_row(around_change, highs[first + i] - low, change, i, -ONE)
    clear(spare, FIRST, FIRST + 2)
    running, nothing, width = address(spare, FIRST), address(spare, FIRST + 1), np.uintp(change.shape[1])
    if len(starts):
        clear(around, FIRST, high - low)
    for j in range(high - low):
        i = low + j - first
        own = address(change, i) if 0 <= i < last - first else nothing
        row = address(around, j) if len(starts) else address(inputs, words[low + j])
        settle_wide(row, running, address(around_change, j), own, width)  # type: ignore[call-arg]
    if len(starts):
        scatter(inputs, starts, members, words[low:high], around)
