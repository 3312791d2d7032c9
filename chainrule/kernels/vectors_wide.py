"""Explicit vector code for small products: what a compiler cannot widen without checking for overlaps each time.

Equals the plain loops that the docstrings show. The width of rows is a multiple of 16. Rows begin at cache lines, but
those of `add_wide` and `product_wide` may begin anywhere.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainrule.kernels.wide import (
    ANYWHERE,
    FAST,
    LANES,
    constant,
    exchanged,
    folded,
    fused,
    limited,
    load,
    merged,
    offsets,
    polynomial,
    spread,
    store,
)

TILE = 8  # rows
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
        builder.call(function, [builder.inttoptr(given[0], byte), *(ir.IntType(32)(n) for n in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@intrinsic
def add_wide(context, out, row, width, weight):
    """out += weight · row"""
    def generate(context, builder, signature, given):
        out, row, width, weight = given
        factor = spread(builder, weight)
        with offsets(builder, width) as offset:
            there = builder.add(out, offset)
            before, more = load(builder, there, ANYWHERE), load(builder, builder.add(row, offset), ANYWHERE)
            store(builder, fused(builder, factor, more, before), there, ANYWHERE)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp, types.float32), generate


@intrinsic
def combine_wide(context, out, one, two, three, width, share):
    """out = (one − two − three) · share"""
    def generate(context, builder, signature, given):
        (out, *rows), width, factor = given[:4], given[4], spread(builder, given[5])
        with offsets(builder, width) as offset:
            one, two, three = (load(builder, builder.add(each, offset)) for each in rows)
            left = builder.fsub(builder.fsub(one, two, flags=FAST), three, flags=FAST)
            store(builder, builder.fmul(left, factor, flags=FAST), builder.add(out, offset))
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 5, types.float32), generate


@intrinsic
def settle_wide(context, out, running, more, less, width):
    """running += more, and then out += running − less"""
    def generate(context, builder, signature, given):
        *rows, width = given
        with offsets(builder, width) as offset:
            out, running, more, less = (builder.add(each, offset) for each in rows)
            now = builder.fadd(load(builder, running), load(builder, more), flags=FAST)
            store(builder, now, running)
            change = builder.fsub(now, load(builder, less), flags=FAST)
            store(builder, builder.fadd(load(builder, out), change, flags=FAST), out)
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 5), generate


@intrinsic
def sum_wide(context, out, one, two, width):
    """out = one + two"""
    def generate(context, builder, signature, given):
        out, one, two, width = given
        with offsets(builder, width) as offset:
            a, b = (load(builder, builder.add(each, offset)) for each in (one, two))
            store(builder, builder.fadd(a, b, flags=FAST), builder.add(out, offset))
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 4), generate


@intrinsic
def product_wide(context, left, right, width):
    """left · right"""
    def generate(context, builder, signature, given):
        left, right, width = given
        total = cgutils.alloca_once_value(builder, constant(0))
        with offsets(builder, width) as offset:
            a, b = (load(builder, builder.add(each, offset), ANYWHERE) for each in (left, right))
            builder.store(fused(builder, a, b, builder.load(total)), total)
        return builder.extract_element(folded(builder, builder.load(total), 1), ir.IntType(32)(0))

    return types.float32(types.uintp, types.uintp, types.uintp), generate


@intrinsic
def four_products(context, hidden, targets, width):
    """hidden · targets[k], for four rows one after the other in memory."""
    def generate(context, builder, signature, given):
        hidden, targets, width = given
        stride = builder.mul(width, width.type(4))
        totals = [cgutils.alloca_once_value(builder, constant(0)) for _ in range(4)]
        with offsets(builder, width) as offset:
            own, near = load(builder, builder.add(hidden, offset)), builder.add(targets, offset)
            for k, total in enumerate(totals):
                row = load(builder, builder.add(near, builder.mul(stride, width.type(k))))
                builder.store(fused(builder, own, row, builder.load(total)), total)
        a, b, c, d = (builder.load(each) for each in totals)
        quarters = merged(builder, merged(builder, a, b, 1), merged(builder, c, d, 1), 2)
        sums = folded(builder, quarters, 4)
        found = [builder.extract_element(sums, ir.IntType(32)(k)) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.float32, 4)(types.uintp, types.uintp, types.uintp), generate


@intrinsic
def teach_four(context, hidden, change, targets, target_change, width, w0, w1, w2, w3):
    """change += Σ_k w_k targets[k] and target_change[k] += w_k hidden, for four rows one after the other in memory."""
    def generate(context, builder, signature, given):
        addresses, width, weights = given[:4], given[4], [spread(builder, each) for each in given[5:]]
        stride = builder.mul(width, width.type(4))
        with offsets(builder, width) as offset:
            own, moved, near, near_moved = (builder.add(each, offset) for each in addresses)
            h, total = load(builder, own), load(builder, moved)
            for k, weight in enumerate(weights):
                place = builder.mul(stride, width.type(k))
                total = fused(builder, weight, load(builder, builder.add(near, place)), total)
                there = builder.add(near_moved, place)
                store(builder, fused(builder, weight, h, load(builder, there)), there)
            store(builder, total, moved)
        return context.get_dummy_value()

    place, weight = types.uintp, types.float32
    return types.void(place, place, place, place, types.uintp, weight, weight, weight, weight), generate


def tile_of(lanes):
    """set_tile(…): out[r, l] = Σ_k left[r, k] right[k, l] for a tile of 8 rows and so many lanes, kept in registers.

    `left_row` and `left_step` are the bytes from one r and one k to the next, so that left may be a transpose.
    """
    @intrinsic
    def set_tile(context, out, out_row, left, left_row, left_step, right, right_row, count):
        def generate(context, builder, signature, given):
            out, out_row, left, left_row, left_step, right, right_row, count = given
            sums = [cgutils.alloca_once_value(builder, constant(0, lanes)) for _ in range(TILE)]
            with cgutils.for_range(builder, count) as loop:
                row = load(builder, builder.add(right, builder.mul(loop.index, right_row)), lanes=lanes)
                here = builder.add(left, builder.mul(loop.index, left_step))
                for r, total in enumerate(sums):
                    place = builder.add(here, builder.mul(left_row, out.type(r)))
                    number = builder.load(builder.inttoptr(place, ir.FloatType().as_pointer()))
                    builder.store(fused(builder, spread(builder, number, lanes), row, builder.load(total)), total)
            for r, total in enumerate(sums):
                store(builder, builder.load(total), builder.add(out, builder.mul(out_row, out.type(r))))
            return context.get_dummy_value()

        return types.void(*[types.uintp] * 8), generate

    return set_tile


set_whole_tile, set_half_tile = tile_of(LANES), tile_of(LANES // 2)


@intrinsic
def turn_tile(context, out, out_row, table, row):
    """out[d, k] = table[k, d] for 16 rows of 16 numbers: four rounds, in which pairs of rows change their halves."""
    def generate(context, builder, signature, given):
        out, out_row, table, row = given
        rows = [load(builder, builder.add(table, builder.mul(row, out.type(k)))) for k in range(LANES)]
        for run in (1, 2, 4, 8):
            for k in range(LANES):
                if not k & run:
                    rows[k], rows[k + run] = exchanged(builder, rows[k], rows[k + run], run)
        for d, column in enumerate(rows):
            store(builder, column, builder.add(out, builder.mul(out_row, out.type(d))))
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 4), generate


@intrinsic
def weigh_row(context, row, width, weight):
    """row = weight · σ(row), with σ(x) = ½ + ½ tanh(x/2) to 2·10⁻⁷, where tanh is a ratio of polynomials.

    The coefficients are those of the rational approximation in the Eigen library, for |x/2| up to 7.9.
    """
    def generate(context, builder, signature, given):
        row, width, weight = given
        half, factor = constant(0.5), spread(builder, weight)
        with offsets(builder, width) as offset:
            place = builder.add(row, offset)
            y = builder.fmul(load(builder, place), half, flags=FAST)
            y = limited(builder, y, 7.9053111)
            z = builder.fmul(y, y, flags=FAST)
            ratio = builder.fdiv(polynomial(builder, z, ABOVE), polynomial(builder, z, BELOW), flags=FAST)
            value = fused(builder, builder.fmul(y, half, flags=FAST), ratio, half)
            store(builder, builder.fmul(value, factor, flags=FAST), place)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.float32), generate
