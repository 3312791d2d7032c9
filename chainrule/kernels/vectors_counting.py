"""Weights of pairs of words within a window; equals chainrule.vectors.cooccurrence.count_plainly.

Pairs of frequent words have a cell each. All others are recorded one by one, to be sorted and added up. Weights are
integers, so that sums do not depend on the order.
"""

from __future__ import annotations

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_reading import UNIT_ENDS


@kernel()
def count_pairs(ids, row_of, units, size, shift, limits, offsets, cells, events, used, recent, held):
    """Adds units[d] for each pair of words d apart; stops before the events could overflow.

    A pair is (smaller row, larger row); a word with itself counts twice, once for each side. It has the cell
    offsets[smaller] + larger where larger < limits[smaller]; if not, it is recorded as key · 2^shift + d, with the key
    smaller · V + larger. `recent` has the last rows twice over, so that they are always contiguous; `held` is how many
    there are of this unit, and where the next goes. Returns how many ids were read, and how many events there are.
    """
    reach = len(units) - 1
    there, place = held[0], held[1]
    for position in range(len(ids)):
        row = row_of[ids[position]]
        if row == UNIT_ENDS:
            there = 0
        elif row >= 0:
            if used + 2 * reach > len(events):
                held[0], held[1] = there, place
                return position, used
            for d in range(1, there + 1):
                other = recent[place + reach - d]
                small, large = min(row, other), max(row, other)
                if large < limits[small]:
                    cells[offsets[small] + large] += units[d] << (small == large)
                else:
                    event = ((small * size + large) << shift) | d
                    events[used] = event
                    used += 1
                    if small == large:
                        events[used] = event
                        used += 1
            recent[place] = recent[place + reach] = row
            place = place + 1 if place + 1 < reach else 0
            there = min(there + 1, reach)
    held[0], held[1] = there, place
    return len(ids), used


@kernel()
def count_keys(events, shift):
    """How many different keys there are among sorted events."""
    found, last = 0, -1
    for event in events:
        found += (event >> shift) != last
        last = event >> shift
    return found


@kernel()
def add_up(events, shift, units, keys, sums):
    """The keys of sorted events, each once, and the sums of their weights."""
    mask, at, last = (1 << shift) - 1, -1, -1
    for event in events:
        if (event >> shift) != last:
            last = event >> shift
            at += 1
            keys[at], sums[at] = last, 0
        sums[at] += units[event & mask]


@kernel()
def gather_cells(cells, limits, offsets, size, keys, sums):
    """The pairs of the cells that are not zero, sorted."""
    at = 0
    for small in range(len(limits)):
        for large in range(small, limits[small]):
            if cells[offsets[small] + large]:
                keys[at], sums[at] = small * size + large, cells[offsets[small] + large]
                at += 1


@kernel()
def merge_two(keys, sums, other_keys, other_sums, out_keys, out_sums):
    """Two sorted sets of pairs as one; gives its length."""
    i = j = at = 0
    while i < len(keys) and j < len(other_keys):
        a, b = keys[i], other_keys[j]
        out_keys[at] = min(a, b)
        out_sums[at] = (sums[i] if a <= b else 0) + (other_sums[j] if b <= a else 0)
        i += a <= b
        j += b <= a
        at += 1
    for rest in range(i, len(keys)):
        out_keys[at], out_sums[at] = keys[rest], sums[rest]
        at += 1
    for rest in range(j, len(other_keys)):
        out_keys[at], out_sums[at] = other_keys[rest], other_sums[rest]
        at += 1
    return at
