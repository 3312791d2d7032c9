"""From ids to the words trained on: subsampling, windows and noise words; equals chainrule.vectors.reference."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel

UNIT_ENDS, LEFT_OUT = -2, -1  # rows of ids that are no words
SCALE = 1.0 / 2**53


@kernel()
def next_random(state):
    """64 random bits: xorshift, Marsaglia 2003, with the shifts 13, 7, 17."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@kernel()
def read_words(ids, row_of, keep, window, state, words, lows, highs):
    """Fills the kept words and where the window of each begins and ends; gives how many were kept, and how many read.

    A word of frequency f is kept with probability keep/2³²; its window reaches 1 to `window` words to either side,
    each equally likely, and never beyond its unit.
    """
    kept, seen, begin = 0, 0, 0
    for position in range(len(ids)):
        row = row_of[ids[position]]
        if row == UNIT_ENDS:
            for each in range(max(begin, kept - window), kept):
                highs[each] = min(highs[each], kept)
            begin = kept
        elif row >= 0:
            seen += 1
            x = next_random(state)
            if np.uint32(x >> np.uint64(32)) <= keep[row]:
                reach = 1 + np.int64((x & np.uint64(0xFFFFFFFF)) % np.uint64(window))
                words[kept], lows[kept], highs[kept] = row, max(begin, kept - reach), kept + reach + 1
                kept += 1
    for each in range(max(begin, kept - window), kept):
        highs[each] = min(highs[each], kept)
    return kept, seen


@kernel()
def draw(sums, guide, state, found):
    """A row from each of len(found) equal shares of a distribution, whose running sums these are, up to 1.

    guide[g] is the first row whose sum is above g / len(guide): the search begins there.
    """
    for k in range(len(found)):
        x = (k + np.float64(next_random(state) >> np.uint64(11)) * SCALE) / len(found)
        row = guide[np.int64(x * len(guide))]
        while sums[row] <= x:
            row += 1
        found[k] = row
