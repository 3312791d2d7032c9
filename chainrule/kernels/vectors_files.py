"""Vectors as text: equals `parse_plainly` of chainrule.vectors.files.read_text, and `PlainLines` of write_text."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.digits import DIGIT, MINUS, POINT, write_fixed
from chainrule.vectors.files.write_text import LOWEST, POWERS

NUMBER = 16  # bytes at most: a sign, nine digits, a point and e-10, or 0.000 before the digits
PLUS, SPACE, LINE, SMALL_E, LARGE_E = (ord(c) for c in "+ \neE")
EXACT = 1 << 53  # whole numbers below it are exact in float64, and so are powers of ten up to 10^22
EXACT_POWERS = np.array([float(10**n) for n in range(23)])
LARGEST = float(np.finfo(np.float32).max)


class FastLines:
    """Copies the words' bytes and writes the numbers' digits into one buffer."""

    def __call__(self, words: list[str], rows: np.ndarray) -> bytes:
        spelled = [word.encode() for word in words]
        ends = np.cumsum(np.fromiter(map(len, spelled), np.int64, len(spelled)))
        place = np.empty(int(ends[-1]) + rows.size * (NUMBER + 1) + len(rows), np.uint8)
        size = _lines(np.frombuffer(b"".join(spelled), np.uint8), ends, rows, place)
        return place[:size].tobytes()


@kernel()
def _lines(spelled, ends, rows, place):
    at = 0
    for row in range(len(rows)):
        for byte in range(0 if row == 0 else ends[row - 1], ends[row]):
            place[at] = spelled[byte]
            at += 1
        for k in range(rows.shape[1]):
            place[at] = SPACE
            at = _number(rows[row, k], place, at + 1)
        place[at] = LINE
        at += 1
    return at


@kernel()
def _number(value, place, at):
    """Writes what `"%.9g" % shortest(value)` gives; the position after it."""
    if value < 0 or (value == 0 and np.signbit(value)):
        place[at] = MINUS
        at += 1
    size = abs(np.float64(value))
    if size == 0:
        place[at] = DIGIT
        return at + 1
    before = np.searchsorted(POWERS, size, side="right") + LOWEST
    mantissa = 0.0
    digits = 6
    while True:
        scale = POWERS[digits - before - LOWEST]
        mantissa = np.rint(size * scale)
        if digits == 9 or np.float32(mantissa / scale) == abs(value):
            break
        digits += 1
    return _digits(np.int64(mantissa), digits - before, place, at)


@kernel()
def _digits(mantissa, places, place, at):
    """mantissa / 10^places like %.9g: 0.00123 and 1230 as they are, 1.23e-05 and 1.23e+10 with an exponent."""
    while mantissa % 10 == 0:
        mantissa //= 10
        places -= 1
    count, rest = 1, mantissa // 10
    while rest > 0:
        count += 1
        rest //= 10
    exponent = count - 1 - places
    if -4 <= exponent < 9:
        for _ in range(-places):
            mantissa *= 10
        return write_fixed(mantissa, max(places, 0), max(count - min(places, 0), places + 1), place, at)
    at = write_fixed(mantissa, count - 1, count, place, at)
    place[at], place[at + 1] = SMALL_E, MINUS if exponent < 0 else PLUS
    place[at + 2], place[at + 3] = DIGIT + abs(exponent) // 10, DIGIT + abs(exponent) % 10
    return at + 4


def parse_quickly(lines: list[bytes], into: np.ndarray) -> tuple[list[bytes], np.ndarray]:
    """The words, and which lines were as usual: those are in `into`. Long or odd numbers are left to the caller."""
    data = np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)
    plain = np.zeros(len(lines), np.bool_)
    ends = np.zeros(len(lines), np.int64)
    _parse(data, into, plain, ends)
    return [line[:end] for line, end in zip(lines, ends.tolist(), strict=True)], plain


@kernel()
def _parse(data, into, plain, ends):
    at = 0
    for row in range(len(into)):
        start = at
        while data[at] != SPACE and data[at] != LINE:
            at += 1
        ends[row] = at - start
        usual = at > start
        for k in range(into.shape[1]):
            if not usual or data[at] != SPACE:
                usual = False
                break
            value, at, usual = _value(data, at + 1)
            into[row, k] = value
        while data[at] == SPACE or data[at] == 13:
            at += 1
        plain[row] = usual and data[at] == LINE
        while data[at] != LINE:
            at += 1
        at += 1


@kernel()
def _value(data, at):
    """A number that float64 reads exactly (Clinger 1990), the position after it, and whether it is one."""
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += 1
    mantissa, places, digits, point = 0, 0, 0, False
    while True:
        byte = data[at]
        if DIGIT <= byte <= DIGIT + 9 and mantissa < EXACT // 10:
            mantissa = mantissa * 10 + (byte - DIGIT)
            places += point
            digits += 1
        elif byte == POINT and not point:
            point = True
        else:
            break
        at += 1
    usual = digits > 0
    if data[at] == SMALL_E or data[at] == LARGE_E:
        power, at, known = _power(data, at + 1)
        places -= power
        usual = usual and known
    if not usual or abs(places) > 22 or not (data[at] == SPACE or data[at] == LINE or data[at] == 13):
        return 0.0, at, False
    value = mantissa / EXACT_POWERS[places] if places >= 0 else mantissa * EXACT_POWERS[-places]
    return (-value if negative else value), at, value <= LARGEST


@kernel()
def _power(data, at):
    """A whole number of at most three digits after the e."""
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += 1
    power, digits = 0, 0
    while DIGIT <= data[at] <= DIGIT + 9 and digits < 4:
        power = power * 10 + (data[at] - DIGIT)
        at += 1
        digits += 1
    return (-power if negative else power), at, digits > 0
