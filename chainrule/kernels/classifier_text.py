"""Texts to numbered words and bags of features; equals chainrule.classifying.plain and features, text by text."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.kernels.vectors_subwords import absorb

LINE, END = 10, 0  # the byte that ends a text, and the number of the word that stands for it
MULTIPLIER = np.uint64(116049371)


@njit(cache=True, nogil=True)
def number_words(data, spaces, end_hash, numbers, slots, firsts, hashes):
    """Gives each different word a number, from 1, in order of appearance, and 0 to each end of a text.

    Fills `numbers` (one for each word and end), where in `data` the first of each begins and ends, and its hash.
    Returns how many words and ends, and how many different ones; 0 of them if the tables were too small.
    """
    size, different, i = 0, 1, 0
    hashes[END] = end_hash
    while i < len(data):
        byte = data[i]
        if byte == LINE:
            numbers[size] = END
            size += 1
            i += 1
        elif spaces[byte]:
            i += 1
        else:
            low, h = i, np.uint32(2166136261)
            while i < len(data) and data[i] != LINE and not spaces[data[i]]:
                h = absorb(h, data[i])
                i += 1
            slot = np.int64(h) & (len(slots) - 1)
            while slots[slot] and not same(data, low, i, firsts, slots[slot], h, hashes):
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] == 0:
                if 2 * different > len(slots) or different >= len(firsts):
                    return np.int64(0), np.int64(0)
                slots[slot] = different
                firsts[different, 0], firsts[different, 1], hashes[different] = low, i, h
                different += 1
            numbers[size] = slots[slot]
            size += 1
    return np.int64(size), np.int64(different)


@njit(cache=True, nogil=True)
def same(data, low, high, firsts, word, h, hashes):
    """Whether a word is spelled as an earlier one."""
    begin = firsts[word, 0]
    if hashes[word] != h or firsts[word, 1] - begin != high - low:
        return False
    for j in range(high - low):  # noqa: SIM110, as Numba compiles no generators
        if data[low + j] != data[begin + j]:
            return False
    return True


@njit(cache=True, nogil=True)
def collect(numbers, row_of, hashes, gram_starts, grams, longest, row_of_bucket, next_row, grow, where, starts,
            members, weights, sizes):
    """Fills each text's features: rows, how often each occurs, and how many there are in all; gives the next free row.

    `row_of` is −1 for words without a row; `grams` are the buckets of each word's character n-grams. A bucket without a
    row gets the next one where `grow` says so; elsewhere it counts as a row of zeros. `where` is scratch of −1s.
    """
    bucket, size, text, begin = np.uint64(max(len(row_of_bucket), 1)), 0, 0, 0
    for i in range(len(numbers)):
        if numbers[i] != END:
            continue
        first, total = size, 0
        for j in range(begin, i + 1):
            word = numbers[j]
            if row_of[word] >= 0:
                size = add(row_of[word], first, size, where, members, weights)
                total += 1
            for g in range(gram_starts[word], gram_starts[word + 1]):
                size, next_row, counted = add_bucket(grams[g], row_of_bucket, next_row, grow, first, size, where,
                                                     members, weights)
                total += counted
        for j in range(begin, i + 1 if longest > 1 else begin):
            h = np.uint64(np.int64(hashes[numbers[j]]))
            for k in range(j + 1, min(j + longest, i + 1)):
                h = h * MULTIPLIER + np.uint64(np.int64(hashes[numbers[k]]))
                size, next_row, counted = add_bucket(np.int64(h % bucket), row_of_bucket, next_row, grow, first, size,
                                                     where, members, weights)
                total += counted
        text, begin = text + 1, i + 1
        starts[text], sizes[text - 1] = size, total
    return next_row


@njit(cache=True, nogil=True)
def add_bucket(bucket, row_of_bucket, next_row, grow, first, size, where, members, weights):
    """A feature by its bucket; rows of −2 were cut off and do not count."""
    row = np.int64(row_of_bucket[bucket])
    if row == -1 and grow:
        row, row_of_bucket[bucket] = next_row, next_row
        next_row += 1
    if row >= 0:
        size = add(row, first, size, where, members, weights)
    return size, next_row, np.int64(row != -2)


@njit(cache=True, nogil=True)
def add(row, first, size, where, members, weights):
    """One more of a row: a new member of the text, or a larger weight."""
    if where[row] >= first:
        weights[where[row]] += np.float32(1)
        return size
    where[row] = size
    members[size], weights[size] = row, np.float32(1)
    return size + 1
