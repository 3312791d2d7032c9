"""Biased random walks over a graph, without the GIL; follows chainrule.vectors.walks.chances."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.kernels.vectors_reading import next_random

SCALE = 1.0 / 2**53
TRIES = 32  # draws after which the chances are summed up: out of a dead end with p = 10⁹ one draw in 10⁹ is accepted


@kernel()
def walk(starts, neighbors, sums, order, length, p, q, seed, end, out):
    """A walk from each node of `order`, `end` after it; gives how many ids were written.

    The next node is drawn by its edge's weight and accepted with chance α/max α: Zhou et al. 2021 call it rejection.
    Whether it is found so or by summing all chances, it has the same law.
    """
    state = np.array([seed], np.uint64)
    size, most = 0, max(1.0, 1 / p, 1 / q)
    for node in order:
        last, here = -1, node
        out[size] = here
        size += 1
        for _ in range(length - 1):
            if starts[here] == starts[here + 1]:
                break
            there = neighbors[drawn(sums, starts[here], starts[here + 1], state)]
            if last >= 0:
                tries = 1
                while tries < TRIES and uniform(state) * most >= bias(starts, neighbors, last, there, p, q):
                    there = neighbors[drawn(sums, starts[here], starts[here + 1], state)]
                    tries += 1
                if tries == TRIES:
                    there = summed(starts, neighbors, sums, last, here, p, q, state)
            last, here = here, there
            out[size] = here
            size += 1
        out[size] = end
        size += 1
    return size


@kernel()
def bias(starts, neighbors, last, there, p, q):
    """α of a step to a node from one that was reached from `last`."""
    if there == last:
        return 1 / p
    return 1.0 if linked(neighbors, starts[last], starts[last + 1], there) else 1 / q


@kernel()
def summed(starts, neighbors, sums, last, here, p, q, state):
    """The next node by the sum over all neighbors."""
    low, high = starts[here], starts[here + 1]
    total = 0.0
    for passed in range(2):  # first the sum, then the place in it
        aim, total = uniform(state) * total, 0.0
        before = sums[low - 1] if low else 0.0
        for place in range(low, high):
            total += (sums[place] - before) * bias(starts, neighbors, last, neighbors[place], p, q)
            before = sums[place]
            if passed and total > aim:
                return neighbors[place]
    return neighbors[high - 1]


@kernel()
def uniform(state):
    """In [0, 1), 53 bits."""
    return np.float64(next_random(state) >> np.uint64(11)) * SCALE


@kernel()
def drawn(sums, low, high, state):
    """A place from low to high, by the weights whose running sums these are."""
    before = sums[low - 1] if low else 0.0
    aim = before + uniform(state) * (sums[high - 1] - before)
    first, last = low, high - 1
    while first < last:
        middle = (first + last) // 2
        if sums[middle] > aim:
            last = middle
        else:
            first = middle + 1
    return first


@kernel()
def linked(neighbors, low, high, node):
    """Whether the node is among the sorted neighbors."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if neighbors[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < end and neighbors[low] == node
