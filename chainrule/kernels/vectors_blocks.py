"""Blocks of rows: gathered, multiplied, added back; equals the matrix products of chainrule.vectors.plain."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.kernels.vectors_wide import fetch_line

CLIP, STEPS = 8, 256  # the table of the logistic function reaches from −CLIP to CLIP, with STEPS entries for 1
ZERO = np.float32(0)


def logistic_table() -> np.ndarray:
    """σ(x) in the middle of each step of 1/STEPS."""
    x = (np.arange(2 * CLIP * STEPS) + 0.5) / STEPS - CLIP
    return (1 / (1 + np.exp(-x))).astype(np.float32)


@njit(cache=True, nogil=True)
def logistic(table, x):
    """σ(x) from the table; beyond ±CLIP its last entries."""
    step = np.int64((x + np.float32(CLIP)) * np.float32(STEPS))
    return table[min(max(step, 0), len(table) - 1)]


@njit(cache=True, nogil=True, fastmath=True)
def inner_products(left, right, rows, columns, out):
    """out[i, k] = left[i] · right[k], in tiles of four by four; `rows` and `columns` are rounded up to fours."""
    for i in range(0, rows, 4):
        for k in range(0, columns, 4):
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = ZERO
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = ZERO
            for d in range(left.shape[1]):
                a0, a1, a2, a3 = left[i, d], left[i + 1, d], left[i + 2, d], left[i + 3, d]
                b0, b1, b2, b3 = right[k, d], right[k + 1, d], right[k + 2, d], right[k + 3, d]
                s00, s01, s02, s03 = s00 + a0 * b0, s01 + a0 * b1, s02 + a0 * b2, s03 + a0 * b3
                s10, s11, s12, s13 = s10 + a1 * b0, s11 + a1 * b1, s12 + a1 * b2, s13 + a1 * b3
                s20, s21, s22, s23 = s20 + a2 * b0, s21 + a2 * b1, s22 + a2 * b2, s23 + a2 * b3
                s30, s31, s32, s33 = s30 + a3 * b0, s31 + a3 * b1, s32 + a3 * b2, s33 + a3 * b3
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = s00, s01, s02, s03
            out[i + 1, k], out[i + 1, k + 1], out[i + 1, k + 2], out[i + 1, k + 3] = s10, s11, s12, s13
            out[i + 2, k], out[i + 2, k + 1], out[i + 2, k + 2], out[i + 2, k + 3] = s20, s21, s22, s23
            out[i + 3, k], out[i + 3, k + 1], out[i + 3, k + 2], out[i + 3, k + 3] = s30, s31, s32, s33


@njit(cache=True, nogil=True, fastmath=True)
def add_products(out, weights, table, rows, columns):
    """out[i] += Σ_k weights[i, k] table[k], eight rows of the table at a time: `columns` is a multiple of eight."""
    for i in range(rows):
        for k in range(0, columns, 8):
            w0, w1, w2, w3 = weights[i, k], weights[i, k + 1], weights[i, k + 2], weights[i, k + 3]
            w4, w5, w6, w7 = weights[i, k + 4], weights[i, k + 5], weights[i, k + 6], weights[i, k + 7]
            for d in range(out.shape[1]):
                out[i, d] += (w0 * table[k, d] + w1 * table[k + 1, d] + w2 * table[k + 2, d] + w3 * table[k + 3, d]
                              + w4 * table[k + 4, d] + w5 * table[k + 5, d] + w6 * table[k + 6, d]
                              + w7 * table[k + 7, d])


@njit(cache=True, nogil=True, fastmath=True)
def add_row(out, row, table, other, weight):
    """out[row] += weight · table[other]"""
    for d in range(out.shape[1]):
        out[row, d] += weight * table[other, d]


@njit(cache=True, nogil=True, fastmath=True)
def inner_product(left, row, right, other):
    """left[row] · right[other]"""
    total = ZERO
    for d in range(left.shape[1]):
        total += left[row, d] * right[other, d]
    return total


@njit(cache=True, nogil=True)
def copy_row(out, row, table, other):
    """out[row] = table[other]"""
    for d in range(out.shape[1]):
        out[row, d] = table[other, d]


@njit(cache=True, nogil=True)
def clear(out, first, last):
    """Rows of zeros."""
    for row in range(first, last):
        for d in range(out.shape[1]):
            out[row, d] = ZERO


@njit(cache=True, nogil=True)
def address(table, row):
    """Where a row of float32 begins in memory."""
    return np.uintp(table.ctypes.data) + np.uintp(row) * np.uintp(4 * table.shape[1])


@njit(cache=True, nogil=True)
def rows_of(count, width):
    """(count, width) zeros that begin at a cache line: wide loads from it then never need two lines."""
    memory = np.zeros(count * width + 16, np.float32)
    start = (-memory.ctypes.data % 64) // 4
    return memory[start:start + count * width].reshape(count, width)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True, fastmath=True)
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


@njit(cache=True, nogil=True)
def scatter(table, starts, members, words, change):
    """Adds change[i] to every row of word i."""
    for i in range(len(words)):
        if len(starts) == 0:
            add_row(table, words[i], change, i, np.float32(1))
        else:
            for m in range(starts[words[i]], starts[words[i] + 1]):
                add_row(table, np.int64(members[m]), change, i, np.float32(1))
