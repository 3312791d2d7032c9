"""Blocks of rows: gathered, multiplied, added back; equals the matrix products of chainrule.vectors.reference."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_wide import (
    add_wide,
    fetch_line,
    product_wide,
    set_half_tile,
    set_whole_tile,
    turn_tile,
)

CLIP, STEPS = 8, 256  # the table of the logistic function reaches from −CLIP to CLIP, with STEPS entries for 1
ZERO = np.float32(0)


def logistic_table() -> np.ndarray:
    """σ(x) in the middle of each step of 1/STEPS."""
    x = (np.arange(2 * CLIP * STEPS) + 0.5) / STEPS - CLIP
    return (1 / (1 + np.exp(-x))).astype(np.float32)


@kernel()
def logistic(table, x):
    """σ(x) from the table; beyond ±CLIP its last entries."""
    step = np.int64((x + np.float32(CLIP)) * np.float32(STEPS))
    return table[min(max(step, 0), len(table) - 1)]


@kernel()
def set_product(out, left, right, rows, columns, count, turned):
    """out = left @ right, or left.T @ right where `turned`, over `count` rows of right.

    `rows` and `columns` of out are rounded up to eights.
    """
    step = np.uintp(4)
    out_row, left_row, right_row = step * np.uintp(out.shape[1]), step * np.uintp(left.shape[1]), step * np.uintp(
        right.shape[1])
    begin, here, there = np.uintp(left.ctypes.data), np.uintp(out.ctypes.data), np.uintp(right.ctypes.data)
    across, along = (step, left_row) if turned else (left_row, step)
    for i in range(0, rows, 8):
        row, first = here + np.uintp(i) * out_row, begin + np.uintp(i) * across
        d = 0
        while d + 8 < columns:
            offset = step * np.uintp(d)
            set_whole_tile(row + offset, out_row, first, across, along,
                           there + offset, right_row, np.uintp(count))
            d += 16
        if d < columns:
            offset = step * np.uintp(d)
            set_half_tile(row + offset, out_row, first, across, along,
                          there + offset, right_row, np.uintp(count))


@kernel()
def transpose(out, table):
    """out = table.T; both have sides of a multiple of 16."""
    out_row, row, step = np.uintp(4 * out.shape[1]), np.uintp(4 * table.shape[1]), np.uintp(4)
    for k in range(0, table.shape[0], 16):
        for d in range(0, table.shape[1], 16):
            turn_tile(address(out, d) + step * np.uintp(k), out_row,  # type: ignore[call-arg]
                      address(table, k) + step * np.uintp(d), row)


@kernel()
def address(table, row):
    """Where a row of float32 begins in memory."""
    return np.uintp(table.ctypes.data) + np.uintp(row) * np.uintp(4 * table.shape[1])


@kernel()
def add_row(out, row, table, other, weight):
    """out[row] += weight · table[other]"""
    add_wide(address(out, row), address(table, other), np.uintp(out.shape[1]), weight)  # type: ignore[call-arg]


@kernel()
def inner_product(left, row, right, other):
    """left[row] · right[other]"""
    return product_wide(address(left, row), address(right, other), np.uintp(left.shape[1]))  # type: ignore[call-arg]


@kernel()
def copy_row(out, row, table, other):
    """out[row] = table[other]"""
    for d in range(out.shape[1]):
        out[row, d] = table[other, d]


@kernel()
def clear(out, first, last):
    """Rows of zeros."""
    for row in range(first, last):
        for d in range(out.shape[1]):
            out[row, d] = ZERO


@kernel()
def rows_of(count, width):
    """(count, width) zeros that begin at a cache line: wide loads from it then never need two lines."""
    memory = np.zeros(count * width + 16, np.float32)
    start = (-memory.ctypes.data % 64) // 4
    return memory[start:start + count * width].reshape(count, width)


@kernel()
def fetch_rows(table, starts, members, words):
    """Asks for the rows of words that are read soon."""
    base, width = np.uintp(table.ctypes.data), np.uintp(4 * table.shape[1])
    for word in words:
        if len(starts) == 0:
            for offset in range(np.uintp(0), width, np.uintp(64)):
                fetch_line(base + np.uintp(word) * width + offset)  # type: ignore[call-arg]
        else:
            for m in range(starts[word], starts[word + 1]):
                for offset in range(np.uintp(0), width, np.uintp(64)):
                    fetch_line(base + np.uintp(members[m]) * width + offset)  # type: ignore[call-arg]


@kernel(fastmath=True)
def gather(table, starts, members, words, out):
    """out[i] = Σ of the rows of word i: its own, or those of its bag where there are bags (subwords)."""
    for i in range(len(words)):
        if len(starts) == 0:
            copy_row(out, i, table, words[i])
        else:
            clear(out, i, i + 1)
            m, last = starts[words[i]], starts[words[i] + 1]
            while m + 4 <= last:
                r0, r1, r2, r3 = members[m], members[m + 1], members[m + 2], members[m + 3]
                for d in range(out.shape[1]):
                    out[i, d] += (table[r0, d] + table[r1, d]) + (table[r2, d] + table[r3, d])
                m += 4
            while m < last:
                add_row(out, i, table, np.int64(members[m]), np.float32(1))
                m += 1


@kernel()
def scatter(table, starts, members, words, change):
    """Adds change[i] to every row of word i."""
    for i in range(len(words)):
        if len(starts) == 0:
            add_row(table, words[i], change, i, np.float32(1))
        else:
            for m in range(starts[words[i]], starts[words[i] + 1]):
                add_row(table, np.int64(members[m]), change, i, np.float32(1))
