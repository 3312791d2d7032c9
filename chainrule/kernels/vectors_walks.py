"""Biased random walks over a graph, without the GIL; follows chainrule.vectors.walks.chances."""

from __future__ import annotations

import numpy as np
from numba import njit

from chainrule.kernels.vectors_reading import next_random

SCALE = 1.0 / 2**53


@njit(cache=True, nogil=True)
def walk(starts, neighbors, sums, order, length, p, q, seed, end, out):
    """A walk from each node of `order`, `end` after it; gives how many ids were written.

    The next node is drawn by its edge's weight and accepted with chance α/max α: Zhou et al. 2021 call it rejection.
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
            while True:
                there = neighbors[drawn(sums, starts[here], starts[here + 1], state)]
                if last < 0:
                    break
                if there == last:
                    bias = 1 / p
                elif linked(neighbors, starts[last], starts[last + 1], there):
                    bias = 1.0
                else:
                    bias = 1 / q
                if uniform(state) * most < bias:
                    break
            last, here = here, there
            out[size] = here
            size += 1
        out[size] = end
        size += 1
    return size


@njit(cache=True, nogil=True)
def uniform(state):
    """In [0, 1), 53 bits."""
    return np.float64(next_random(state) >> np.uint64(11)) * SCALE


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
