"""Decimal digits, as bytes."""

from __future__ import annotations

from chainrule.kernels.compiled import kernel

MINUS, POINT, DIGIT = (ord(c) for c in "-.0")


@kernel()
def write_fixed(mantissa, places, count, place, at):
    """`count` digits, with the point before the last `places` of them; gives where they end."""
    end = at + count + (places > 0)
    for k in range(end - 1, at - 1, -1):
        if places > 0 and end - 1 - k == places:
            place[k] = POINT
        else:
            place[k] = DIGIT + mantissa % 10
            mantissa //= 10
    return end
