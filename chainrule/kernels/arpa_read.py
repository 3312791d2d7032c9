"""Parsing the lines of an ARPA file and finding their contexts; equals chainrule.counting.arpa.parse and .trie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chainrule.counting.arpa.numbers import POWERS
from chainrule.counting.arpa.parse import Lookup, Rows, parse_plainly
from chainrule.counting.arpa.trie import Keyed
from chainrule.kernels.compiled import kernel

MOST_DIGITS = 15  # with at most 15 digits and 10^±22 a float64 division or product is rounded once, as float() rounds
TAB, LINE, RETURN, SPACE, PLUS, MINUS, POINT, DIGIT, EXPONENT, CAPITAL_E = (ord(c) for c in "\t\n\r +-.0eE")


class FastParser:
    """Words are found in a hash table of their bytes. A block with anything unusual in it is parsed plainly."""

    def __init__(self, ids: Mapping[bytes, int], lookup: Lookup):
        self.lookup = lookup
        self.spelled = np.frombuffer(b"".join(ids), np.uint8)
        self.ends = np.cumsum(np.fromiter(map(len, ids), np.int64, len(ids)))
        self.ids = np.fromiter(ids.values(), np.int32, len(ids))
        self.slots = _hashed(self.spelled, self.ends, 1 << (2 * len(ids)).bit_length())

    def __call__(self, block: bytes, order: int, top: bool) -> Rows:
        size = block.count(b"\n")
        rows = Rows(np.empty((size, order), np.int32), np.empty(size), np.zeros(size))
        data = np.frombuffer(block, np.uint8)
        vocabulary = (self.spelled, self.ends, self.ids, self.slots)
        if _parse(data, top, vocabulary, rows.ids, rows.log_probs, rows.backoffs):
            return rows
        return parse_plainly(block, order, top=top, lookup=self.lookup)


def search(level: Keyed, contexts: np.ndarray, words: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """Only among the keys of the context itself; equals chainrule.counting.arpa.trie.search_plainly."""
    found = np.empty(len(words), np.int64)
    _search(level.keys, level.starts, contexts, words, vocabulary_size, found)
    return found


@kernel()
def _search(keys, starts, contexts, words, vocabulary_size, found):
    for i in range(len(contexts)):
        found[i] = -1
        if contexts[i] >= 0:
            wanted = contexts[i] * vocabulary_size + words[i]
            low = np.int64(starts[contexts[i]])
            left = np.int64(starts[contexts[i] + 1]) - low
            while left > 1:  # halving without a branch: the last key ≤ wanted
                half = left >> 1
                low = low + half if keys[low + half] <= wanted else low
                left -= half
            if left > 0 and keys[low] == wanted:
                found[i] = low


@kernel()
def _hash(data, low, high):
    """FNV-1a, then mixed so that its low bits depend on all bytes."""
    value = np.uint64(14695981039346656037)
    for i in range(low, high):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(32))


@kernel()
def _hashed(spelled, ends, size):
    """Open addressing; −1 is an empty slot."""
    slots = np.full(size, -1, np.int32)
    low = 0
    for word in range(len(ends)):
        slot = np.int64(_hash(spelled, low, ends[word]) & np.uint64(size - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = word
        low = ends[word]
    return slots


@kernel()
def _find(data, low, high, vocabulary):
    """The id of the word, −1 if it is not in the vocabulary."""
    spelled, ends, ids, slots = vocabulary
    slot = np.int64(_hash(data, low, high) & np.uint64(len(slots) - 1))
    while slots[slot] >= 0:
        word = slots[slot]
        begin = 0 if word == 0 else ends[word - 1]
        if ends[word] - begin == high - low:
            k = 0
            while k < high - low and spelled[begin + k] == data[low + k]:
                k += 1
            if k == high - low:
                return ids[word]
        slot = (slot + 1) & (len(slots) - 1)
    return -1


@kernel()
def _parse(data, top, vocabulary, ids, log_probs, backoffs):
    """Fills the arrays; False where a line is not `number words… [number]` in the most usual form."""
    at = 0
    for row in range(len(ids)):
        at, log_probs[row] = _number(data, at)
        if not log_probs[row] <= 0.0:
            return False
        for k in range(ids.shape[1]):
            if data[at] != TAB and data[at] != SPACE:
                return False
            low = at + 1
            at = low
            while data[at] > SPACE:  # the block ends with a line feed
                at += 1
            ids[row, k] = _find(data, low, at, vocabulary)
            if ids[row, k] < 0:
                return False
        if data[at] == TAB or data[at] == SPACE:
            at, backoffs[row] = _number(data, at + 1)
            if np.isnan(backoffs[row]) or (top and backoffs[row] != 0.0):
                return False
        if data[at] == RETURN:
            at += 1
        if data[at] != LINE:
            return False
        at += 1
    return True


@kernel()
def _number(data, at):
    """The position after a decimal number and its value; NaN where it is none, or one that needs more care."""
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += 1
    first, mantissa, point = at, 0, -1
    while DIGIT <= data[at] <= DIGIT + 9 or (data[at] == POINT and point < 0):
        if data[at] == POINT:
            point = at
        elif mantissa < 10**MOST_DIGITS:
            mantissa = 10 * mantissa + (data[at] - DIGIT)
        at += 1
    digits = at - first - (point >= 0)
    power = 0 if point < 0 else point + 1 - at
    if data[at] == EXPONENT or data[at] == CAPITAL_E:
        at, exponent, found = _exponent(data, at + 1)
        power += exponent
        digits = digits if found else 0
    if digits == 0 or mantissa >= 10**MOST_DIGITS or not -22 <= power <= 22:
        return at, np.nan
    value = mantissa / POWERS[10 - power] if power < 0 else mantissa * POWERS[10 + power]
    return at, -value if negative else value


@kernel()
def _exponent(data, at):
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += 1
    first, value = at, 0
    while DIGIT <= data[at] <= DIGIT + 9:
        value = min(10 * value + (data[at] - DIGIT), 1000)
        at += 1
    return at, -value if negative else value, at > first
