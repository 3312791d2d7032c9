"""Texts to numbered words and bags of features; equals chainrule.classifying.reference and features, text by text."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_subwords import absorb

LINE, END = 10, 0  # the byte that ends a text, and the number of the word that stands for it
MULTIPLIER = np.uint64(116049371)
SCATTER = np.uint64(0x9E3779B97F4A7C15)
MOST = np.uint8(255)  # of one feature in a member; what is more gets a further one


@kernel()
def number_words(data, size, spaces, numbers, ends, slots, firsts, hashes):
    """Gives each different word a number, from 1, in order of appearance, and 0 to </s>, which ends each text.

    Of `data` the first `size` bytes are texts; the word </s> stands behind them. Fills `numbers`, where in them each
    text ends, where the first of each word begins and ends, and its hash. Returns how many different ones there are; 0
    if the tables were too small.
    """
    found, different, i, text = 0, 1, 0, 0
    h = np.uint32(2166136261)
    for j in range(size, len(data)):
        h = absorb(h, data[j])
    firsts[END, 0], firsts[END, 1], hashes[END] = size, len(data), h
    slots[np.int64(h) & (len(slots) - 1)] = 1
    while i < size:
        byte = data[i]
        if byte == LINE:
            numbers[found] = END
            found, text, i = found + 1, text + 1, i + 1
            ends[text] = found
        elif spaces[byte]:
            i += 1
        else:
            low, h = i, np.uint32(2166136261)
            while i < size and data[i] != LINE and not spaces[data[i]]:
                h = absorb(h, data[i])
                i += 1
            slot = np.int64(h) & (len(slots) - 1)
            while slots[slot] and not same(data, low, i, h, data, firsts, hashes, slots[slot] - 1):
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] == 0:
                if 2 * different > len(slots) or different >= len(firsts):
                    return np.int64(0)
                firsts[different, 0], firsts[different, 1], hashes[different] = low, i, h
                different += 1
                slots[slot] = different
            numbers[found] = slots[slot] - 1
            found += 1
    return np.int64(different)


@kernel()
def same(data, low, high, h, known, places, hashes, word):
    """Whether the word data[low:high] is spelled as a known one."""
    begin = places[word, 0]
    if hashes[word] != h or places[word, 1] - begin != high - low:
        return False
    for j in range(high - low):  # noqa: SIM110, as Numba compiles no generators
        if data[low + j] != known[begin + j]:
            return False
    return True


@kernel()
def find_words(data, firsts, hashes, slots, known, places, known_hashes, size, grow, numbers):
    """The number of each word in a table of `size` known ones, −1 or with `grow` the next free one; gives the size.

    Slots hold numbers from 1. Where it grows there must be room in all tables; spellings lie one behind the other.
    """
    for word in range(len(firsts)):
        low, high, h = firsts[word, 0], firsts[word, 1], hashes[word]
        slot = np.int64(h) & (len(slots) - 1)
        while slots[slot] and not same(data, low, high, h, known, places, known_hashes, slots[slot] - 1):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] == 0 and grow:
            begin = places[size - 1, 1] if size else np.int64(0)
            for j in range(high - low):
                known[begin + j] = data[low + j]
            places[size, 0], places[size, 1], known_hashes[size] = begin, begin + high - low, h
            size += 1
            slots[slot] = size
        numbers[word] = slots[slot] - 1
    return size


@kernel()
def place_hashes(hashes, slots):
    """Fills empty slots with the words that have these hashes."""
    for word in range(len(hashes)):
        slot = np.int64(hashes[word]) & (len(slots) - 1)
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = word + 1


@kernel()
def write_words(spelled, places, numbers, out):
    """The spellings of words, each with a line end behind it."""
    size = 0
    for word in numbers:
        for j in range(places[word, 0], places[word, 1]):
            out[size] = spelled[j]
            size += 1
        out[size] = LINE
        size += 1


@kernel()
def mark_words(data, firsts, offsets, out):
    """<word> for each, one behind the other; nothing for the end of a text, which has no n-grams."""
    for word in range(1, len(firsts)):
        low, place = firsts[word, 0], offsets[word]
        out[place] = 60
        for j in range(firsts[word, 1] - low):
            out[place + 1 + j] = data[low + j]
        out[offsets[word + 1] - 1] = 62


@kernel()
def collect(numbers, ends, hashes, gram_starts, grams, longest, bucket, slots, starts, members, weights, sizes):
    """Fills each text's features: word n as n, bucket b as −1 − b; how often each occurs; how many there are in all.

    `grams` are the buckets of each word's character n-grams. `slots` is scratch of −1s, as many as `bits_for` says of
    the text with most features.
    """
    size = np.int64(0)
    for text in range(len(sizes)):
        begin, end, total = ends[text], ends[text + 1], np.int64(0)
        bits = bits_for(numbers, begin, end, gram_starts, longest)
        for j in range(begin, end):
            word = numbers[j]
            size = add(np.int32(word), bits, slots, size, members, weights)
            for g in range(gram_starts[word], gram_starts[word + 1]):
                size = add(np.int32(-1 - grams[g]), bits, slots, size, members, weights)
            total += 1 + gram_starts[word + 1] - gram_starts[word]
        for j in range(begin, end if longest > 1 else begin):
            h = np.uint64(np.int64(hashes[numbers[j]]))
            for k in range(j + 1, min(j + longest, end)):
                h = h * MULTIPLIER + np.uint64(np.int64(hashes[numbers[k]]))
                size = add(np.int32(-1 - np.int64(h % bucket)), bits, slots, size, members, weights)
                total += 1
        for slot in range(1 << bits):
            slots[slot] = -1
        starts[text + 1], sizes[text] = size, total


@kernel()
def bits_for(numbers, begin, end, gram_starts, longest):
    """2^bits slots are at least twice the features of a text."""
    room, bits = np.int64(0), 6
    for j in range(begin, end):
        room += longest + gram_starts[numbers[j] + 1] - gram_starts[numbers[j]]
    while (1 << bits) < 2 * room:
        bits += 1
    return bits


@kernel()
def add(feature, bits, slots, size, members, weights):
    """One more of a feature: a new member of the text, or a larger weight."""
    slot = np.int64(np.uint64(feature) * SCATTER >> np.uint64(64 - bits))
    while slots[slot] >= 0 and members[slots[slot]] != feature:
        slot = (slot + 1) & ((1 << bits) - 1)
    if slots[slot] >= 0 and weights[slots[slot]] < MOST:
        weights[slots[slot]] += np.uint8(1)
        return size
    slots[slot], members[size], weights[size] = size, feature, np.uint8(1)
    return size + 1


@kernel()
def rename(members, names, out):
    """Words by other numbers; buckets stay."""
    for m in range(len(members)):
        out[m] = names[members[m]] if members[m] >= 0 else members[m]


@kernel()
def resolve(starts, members, weights, sizes, row_of, row_of_bucket, next_row, grow, new_starts, new_members,
            new_weights, new_sizes):
    """Rows in the place of features, in new arrays or the same; gives how many members there are then.

    `row_of` is −1 for words without a row: they do not count. A bucket without a row gets the next one where `grow`
    says so; elsewhere it counts as a row of zeros. One with row −2 was cut off and does not count.
    """
    size, low = np.int64(0), starts[0]
    for text in range(len(sizes)):
        total, high = sizes[text], starts[text + 1]
        for m in range(low, high):
            feature = members[m]
            if feature >= 0:
                row = np.int64(row_of[feature])
                total -= np.float32(weights[m]) if row < 0 else np.float32(0)
            else:
                row = np.int64(row_of_bucket[-1 - feature])
                if row == -1 and grow:
                    row, row_of_bucket[-1 - feature] = next_row, next_row
                    next_row += 1
                total -= np.float32(weights[m]) if row == -2 else np.float32(0)
            if row >= 0:
                new_members[size], new_weights[size] = row, weights[m]
                size += 1
        new_starts[text + 1], new_sizes[text], low = size, total, high
    return size
