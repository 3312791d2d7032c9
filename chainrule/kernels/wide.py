"""Building blocks of explicit vector code: operations on vectors of 16 numbers in LLVM's intermediate language.

A function is named after the instruction that it generates: `fused` emits a fused multiply-add.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from llvmlite import ir
from numba.core import cgutils

LANES = 16
LINE, ANYWHERE = 64, 4  # the bytes that an address is a multiple of
FAST = ("fast",)
WIDE = ir.VectorType(ir.FloatType(), LANES)


def polynomial(builder, z, coefficients):
    """Horner's rule, the highest power first."""
    total = constant(coefficients[0])
    for each in coefficients[1:]:
        total = fused(builder, total, z, constant(each))
    return total


def limited(builder, x, limit):
    for sign, bound in (("<", -limit), (">", limit)):
        outside = builder.fcmp_ordered(sign, x, constant(bound))
        x = builder.select(outside, constant(bound), x)
    return x


def constant(number, lanes=LANES):
    return ir.Constant(ir.VectorType(ir.FloatType(), lanes), [float(np.float32(number))] * lanes)


def load(builder, address, align=LINE, lanes=LANES):
    pointer = builder.inttoptr(address, ir.VectorType(ir.FloatType(), lanes).as_pointer())
    return builder.load(pointer, align=min(align, 4 * lanes))


def store(builder, value, address, align=LINE):
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=min(align, 4 * value.type.count))


@contextmanager
def offsets(builder, width):
    """The bytes before each vector of a row."""
    with cgutils.for_range(builder, builder.udiv(width, width.type(LANES))) as loop:
        yield builder.mul(loop.index, width.type(LINE))


def merged(builder, x, y, run):
    """From x and y, in each quarter of 4: the sums of its halves, runs of x and of y by turns."""
    first, second = [], []
    for quarter in range(0, LANES, 4):
        for at in range(0, 2, run):
            for source in (0, LANES):
                first += [source + quarter + at + step for step in range(run)]
                second += [source + quarter + 2 + at + step for step in range(run)]
    return builder.fadd(mixed(builder, x, y, first), mixed(builder, x, y, second), flags=FAST)


def exchanged(builder, x, y, run):
    """x keeps its even runs of lanes and takes those of y for its odd ones; y the other way round."""
    even = [lane if not lane & run else LANES + lane - run for lane in range(LANES)]
    odd = [lane + run if not lane & run else LANES + lane for lane in range(LANES)]
    return mixed(builder, x, y, even), mixed(builder, x, y, odd)


def folded(builder, value, width):
    """The halves of a vector added, until `width` numbers are left."""
    while value.type.count > width:
        half = value.type.count // 2
        lower, upper = list(range(half)), list(range(half, 2 * half))
        value = builder.fadd(mixed(builder, value, value, lower), mixed(builder, value, value, upper), flags=FAST)
    return value


def mixed(builder, x, y, lanes):
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


def fused(builder, a, b, c):
    return builder.fadd(builder.fmul(a, b, flags=FAST), c, flags=FAST)


def spread(builder, number, lanes=LANES):
    """The same number in every lane."""
    nothing = ir.Constant(ir.VectorType(ir.FloatType(), lanes), ir.Undefined)
    one = builder.insert_element(nothing, number, ir.IntType(32)(0))
    return mixed(builder, one, nothing, [0] * lanes)
