"""GloVe's weighted least squares by AdaGrad, without the GIL; equals chainrule.vectors.methods.glove.step_plainly.

A word's table is four rows one after the other: its vector, its squares, its vector as a context, and their squares.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_wide import fetch_line, product_wide
from chainrule.kernels.wide import FAST, LANES, WIDE, constant, fused, load, spread, store

AHEAD, LINE = 2, 64  # entries that are fetched ahead; bytes of a cache line


@kernel(fastmath=True)
def descend(entries, table, alpha):
    """Entries in their order, each both ways round; gives the sum of f (w · c − ln x)² / 2."""
    width, cost, start = table.shape[2], 0.0, np.uintp(table.ctypes.data)
    half = np.uintp(8 * width)
    word = np.uintp(2) * half
    for e in range(len(entries)):
        if e + AHEAD < len(entries):
            for row in (entries[e + AHEAD].row, entries[e + AHEAD].column):
                for offset in range(np.uintp(0), word, np.uintp(LINE)):
                    fetch_line(start + np.uintp(row) * word + offset)  # type: ignore[call-arg]
        one, other = start + np.uintp(entries[e].row) * word, start + np.uintp(entries[e].column) * word
        weight, log = entries[e].weight, entries[e].log
        ahead = product_wide(one, other + half, np.uintp(width)) - log  # type: ignore[call-arg]
        back = product_wide(other, one + half, np.uintp(width)) - log
        adapt(one, other + half, np.uintp(width), alpha * weight * ahead)
        cost += weight * ahead * ahead
        if one != other:
            adapt(other, one + half, np.uintp(width), alpha * weight * back)
            cost += weight * back * back
    return cost / 2


@kernel()
def shuffle(entries, seed):
    """Puts entries into a random order (Fisher & Yates), by xorshift64* (Vigna 2016)."""
    state = np.uint64(seed)
    for last in range(len(entries) - 1, 0, -1):
        state ^= state >> np.uint64(12)
        state ^= state << np.uint64(25)
        state ^= state >> np.uint64(27)
        draw = (state * np.uint64(2685821657736338717)) >> np.uint64(32)
        other = np.int64((draw * np.uint64(last + 1)) >> np.uint64(32))
        kept = (entries[other].row, entries[other].column, entries[other].weight, entries[other].log)
        entries[other] = entries[last]
        entries[last].row, entries[last].column, entries[last].weight, entries[last].log = kept


@kernel()
def count_tiles(keys, size, groups, splits, sizes):
    """How many pairs there are in each piece of each tile."""
    for key in keys:
        sizes[piece_of(key, size, groups, splits)] += 1


@kernel()
def fill_tiles(keys, counts, size, groups, splits, places, x_max, exponent, entries):
    """Appends each pair to its piece, with f(x) and ln x."""
    for p in range(len(keys)):
        piece = piece_of(keys[p], size, groups, splits)
        entry, x = entries[places[piece]], counts[p]
        entry.row, entry.column = keys[p] // size, keys[p] % size
        entry.weight, entry.log = min(1.0, (x / x_max) ** exponent), np.log(x)
        places[piece] += 1


@kernel()
def piece_of(key, size, groups, splits):
    """The tile of the groups of both words, whichever is first, and a piece of it by a hash of the key."""
    one, other = (key // size) % groups, (key % size) % groups
    low, high = min(one, other), max(one, other)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return (high * (high + 1) // 2 + low) * splits + np.int64((mixed >> np.uint64(32)) % np.uint64(splits))


@intrinsic
def adapt(context, one, other, width, step):
    """g = step · other, one −= g / √squares, squares += g², and the same for the other, from what both were before.

    The squares of a row are the row after it.
    """
    def generate(context, builder, signature, given):
        one, other, width, step = given
        step, row = spread(builder, step), builder.mul(width, width.type(4))
        with cgutils.for_range(builder, builder.udiv(width, width.type(LANES))) as loop:
            offset = builder.mul(loop.index, width.type(4 * LANES))
            places = [builder.add(each, offset) for each in (one, other)]
            values = [load(builder, place) for place in places]
            for place, value, slope in zip(places, values, reversed(values), strict=True):
                g, squares = builder.fmul(step, slope, flags=FAST), load(builder, builder.add(place, row))
                moved = builder.fmul(g, _inverse_root(builder, squares), flags=FAST)
                store(builder, builder.fsub(value, moved, flags=FAST), place)
                store(builder, fused(builder, g, g, squares), builder.add(place, row))
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp, types.float32), generate


def _inverse_root(builder, x):
    """1 / √x; the compiler may take the processor's estimate and a step of Newton's."""
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WIDE, [WIDE]), f"llvm.sqrt.v{LANES}f32")
    return builder.fdiv(constant(1), builder.call(function, [x], fastmath=FAST), flags=FAST)
