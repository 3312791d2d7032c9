"""Explicit vector code for small products: what a compiler cannot widen without checking for overlaps each time.

Equals the plain loops that the docstrings show. Rows begin at cache lines, and their width is a multiple of 16.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES, TILE = 16, 8
WIDE = ir.VectorType(ir.FloatType(), LANES)
FAST = ("fast",)
ABOVE = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
         1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)
BELOW = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)


@intrinsic
def fetch_line(context, address):
    """Asks for the cache line at an address, without waiting for it."""
    def generate(context, builder, signature, given):
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte] + [ir.IntType(32)] * 3)
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [builder.inttoptr(given[0], byte), *(ir.IntType(32)(n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@intrinsic
def teach_four(context, hidden, change, targets, target_change, width, w0, w1, w2, w3):
    """change += Σ_k w_k targets[k] and target_change[k] += w_k hidden, for four rows one after the other in memory."""
    def generate(context, builder, signature, given):
        addresses, width, weights = given[:4], given[4], [_spread(builder, each) for each in given[5:]]
        stride = builder.mul(width, width.type(4))
        with cgutils.for_range(builder, builder.udiv(width, width.type(LANES))) as loop:
            offset = builder.mul(loop.index, width.type(4 * LANES))
            own, moved, near, near_moved = (builder.add(each, offset) for each in addresses)
            h, total = _load(builder, own), _load(builder, moved)
            for k, weight in enumerate(weights):
                place = builder.mul(stride, width.type(k))
                total = _fused(builder, weight, _load(builder, builder.add(near, place)), total)
                there = builder.add(near_moved, place)
                _store(builder, _fused(builder, weight, h, _load(builder, there)), there)
            _store(builder, total, moved)
        return context.get_dummy_value()

    place, weight = types.uintp, types.float32
    return types.void(place, place, place, place, types.uintp, weight, weight, weight, weight), generate


@intrinsic
def add_tile(context, out, out_row, left, left_row, left_step, right, right_row, count):
    """out[r, l] += Σ_k left[r, k] right[k, l] for a tile of 8 rows and 16 lanes, which stays in registers.

    `left_row` and `left_step` are the bytes from one r and one k to the next, so that left may be a transpose.
    """
    def generate(context, builder, signature, given):
        out, out_row, left, left_row, left_step, right, right_row, count = given
        sums = [cgutils.alloca_once(builder, WIDE) for _ in range(TILE)]
        for r, total in enumerate(sums):
            builder.store(_load(builder, builder.add(out, builder.mul(out_row, out.type(r)))), total)
        with cgutils.for_range(builder, count) as loop:
            row = _load(builder, builder.add(right, builder.mul(loop.index, right_row)))
            here = builder.add(left, builder.mul(loop.index, left_step))
            for r, total in enumerate(sums):
                place = builder.add(here, builder.mul(left_row, out.type(r)))
                number = builder.load(builder.inttoptr(place, ir.FloatType().as_pointer()))
                builder.store(_fused(builder, _spread(builder, number), row, builder.load(total)), total)
        for r, total in enumerate(sums):
            _store(builder, builder.load(total), builder.add(out, builder.mul(out_row, out.type(r))))
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 8), generate


@intrinsic
def weigh_row(context, row, width, weight):
    """row = weight · σ(row), with σ(x) = ½ + ½ tanh(x/2) to 2·10⁻⁷, where tanh is a ratio of polynomials.

    The coefficients are those of the rational approximation in the Eigen library, for |x/2| up to 7.9.
    """
    def generate(context, builder, signature, given):
        row, width, weight = given
        half, factor = _constant(0.5), _spread(builder, weight)
        with cgutils.for_range(builder, builder.udiv(width, width.type(LANES))) as loop:
            place = builder.add(row, builder.mul(loop.index, width.type(4 * LANES)))
            y = builder.fmul(_load(builder, place), half, flags=FAST)
            y = _limited(builder, y, 7.9053111)
            z = builder.fmul(y, y, flags=FAST)
            ratio = builder.fdiv(_polynomial(builder, z, ABOVE), _polynomial(builder, z, BELOW), flags=FAST)
            value = _fused(builder, builder.fmul(y, half, flags=FAST), ratio, half)
            _store(builder, builder.fmul(value, factor, flags=FAST), place)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.float32), generate


def _polynomial(builder, z, coefficients):
    """Horner's rule, the highest power first."""
    total = _constant(coefficients[0])
    for each in coefficients[1:]:
        total = _fused(builder, total, z, _constant(each))
    return total


def _limited(builder, x, limit):
    for sign, bound in (("<", -limit), (">", limit)):
        outside = builder.fcmp_ordered(sign, x, _constant(bound))
        x = builder.select(outside, _constant(bound), x)
    return x


def _constant(number):
    return ir.Constant(WIDE, [float(np.float32(number))] * LANES)


def _pointer(builder, address):
    return builder.inttoptr(address, WIDE.as_pointer())


def _load(builder, address):
    return builder.load(_pointer(builder, address), align=4 * LANES)


def _store(builder, value, address):
    builder.store(value, _pointer(builder, address), align=4 * LANES)


def _fused(builder, a, b, c):
    return builder.fadd(builder.fmul(a, b, flags=FAST), c, flags=FAST)


def _spread(builder, number):
    """The same number in every lane."""
    one = builder.insert_element(ir.Constant(WIDE, ir.Undefined), number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(WIDE, ir.Undefined), lanes)
