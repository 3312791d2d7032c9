"""Four rows against one in explicit vector code: what a compiler cannot widen without checking for overlaps each time.

Equals the plain loops that the docstrings show. Rows begin at cache lines, and their width is a multiple of 16.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
WIDE = ir.VectorType(ir.FloatType(), LANES)
FAST = ("fast",)


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
