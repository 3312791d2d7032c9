"""Lines of an ARPA file as bytes; equals chainrule.counting.arpa.write.PlainLines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.counting.arpa.numbers import LN10, LOG10_E, POWERS, TINY, ZERO
from chainrule.kernels.compiled import kernel
from chainrule.kernels.digits import DIGIT, MINUS, write_fixed
from chainrule.threads import frozen

NUMBER = 16  # bytes at most: a sign, nine digits, a point and e-10, or 0.000 before the digits
TAB, SPACE, LINE, EXPONENT = (ord(c) for c in "\t \ne")


class FastLines:
    """Copies the words' bytes and writes the numbers' digits into one buffer."""

    def __init__(self, words: Sequence[str]):
        spelled = [word.encode() for word in words]
        self.lengths = np.fromiter(map(len, spelled), np.int64, len(spelled))
        self.ends = frozen(np.cumsum(self.lengths))
        self.spelled = np.frombuffer(b"".join(spelled), np.uint8)

    def __call__(self, ids: np.ndarray, log_probs: np.ndarray, backoffs: np.ndarray | None) -> bytes:
        most = int(self.lengths[ids].sum()) + len(ids) * (ids.shape[1] + 2 * NUMBER + 3)
        place = np.empty(most, np.uint8)
        weights = frozen(log_probs if backoffs is None else backoffs)
        size = _lines(frozen(ids), self.spelled, self.ends, frozen(log_probs), weights, backoffs is not None, place)
        return place[:size].tobytes()


@kernel()
def _lines(ids, spelled, ends, log_probs, backoffs, with_backoffs, place):
    at = 0
    for row in range(len(ids)):
        at = _number(log_probs[row], place, at)
        place[at] = TAB
        at += 1
        for k in range(ids.shape[1]):
            word = ids[row, k]
            for byte in range(0 if word == 0 else ends[word - 1], ends[word]):
                place[at] = spelled[byte]
                at += 1
            place[at] = SPACE
            at += 1
        if with_backoffs:
            place[at - 1] = TAB
            at = _number(backoffs[row], place, at) + 1
        place[at - 1] = LINE
    return at


@kernel()
def _number(natural, place, at):
    """Writes what `"%.9g" % to_decimal(natural)` gives; the position after it."""
    size = abs(np.float64(natural)) * LOG10_E
    if size < TINY:
        place[at] = DIGIT
        return at + 1
    if natural < 0:
        place[at] = MINUS
        at += 1
    if size >= -ZERO:
        place[at] = place[at + 1] = DIGIT + 9
        return at + 2
    mantissa, places = _shortest(size, abs(natural))
    return _digits(mantissa, places, place, at)


@kernel()
def _shortest(size, natural):
    """size ≈ mantissa / 10^places, with as few digits as give `natural` again."""
    below = 0
    while POWERS[below] <= size:
        below += 1
    for digits in range(6, 10):
        places = 10 - below + digits
        scale = POWERS[10 + places]
        rounded = np.rint(size * scale)
        if np.float32(rounded / scale * LN10) == natural:
            break
    mantissa = np.int64(rounded)
    while places > 0 and mantissa % 10 == 0:
        mantissa //= 10
        places -= 1
    return mantissa, places


@kernel()
def _digits(mantissa, places, place, at):
    """0.00123 as it is, 0.0000123 as 1.23e-05: like %g."""
    count, rest = 1, mantissa // 10
    while rest > 0:
        count += 1
        rest //= 10
    exponent = count - 1 - places
    if exponent < -4:
        at = write_fixed(mantissa, count - 1, count, place, at)
        place[at], place[at + 1] = EXPONENT, MINUS
        place[at + 2], place[at + 3] = DIGIT + -exponent // 10, DIGIT + -exponent % 10
        return at + 4
    return write_fixed(mantissa, places, max(count, places + 1), place, at)
