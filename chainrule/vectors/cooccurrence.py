"""How often words occur near each other: counted in a stream, in as much memory as is allowed.

As in GloVe's own program (Pennington et al. 2014), frequent pairs have a cell each and the rest are recorded, sorted
and added up; a full buffer becomes a sorted run, and at the end runs are merged a block at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chainrule.counting.scratch import Scratch
from chainrule.threads import frozen
from chainrule.vectors.memory_limit import EVENT, PAIR, PROGRAM, drop_pages
from chainrule.vectors.text import UNIT_ENDS, Text

ONE = 1 << 30  # weights are whole multiples of 1/ONE: sums are then the same in whatever order they are taken
CELLS = 1 << 21  # of frequent pairs: 16 MB
IDS = 1 << 22  # read between two looks at the memory
BLOCK = 1 << 18  # pairs that are merged at a time, of all runs together, where memory is limited
steps = logging.getLogger("chainrule.steps")


@dataclass(frozen=True)
class Pairs:
    """Sorted keys, smaller row · V + larger row, each once, with the sum of its weights; in memory or on disk."""

    keys: np.ndarray
    sums: np.ndarray  # in units of 1/ONE
    vocabulary_size: int

    @property
    def rows(self) -> np.ndarray:
        return (self.keys // self.vocabulary_size).astype(np.int32)

    @property
    def columns(self) -> np.ndarray:
        return (self.keys % self.vocabulary_size).astype(np.int32)

    @property
    def weights(self) -> np.ndarray:
        return self.sums / ONE


class Cells(NamedTuple):
    """Where frequent pairs are added up: the cell of (a, b) is offsets[a] + b, for a ≤ b < limits[a]."""

    limits: np.ndarray
    offsets: np.ndarray
    values: np.ndarray


def distance_weights(window: int, weighting: str) -> np.ndarray:
    """(window + 1,): what a pair counts at each distance d; `harmonic` 1/d, `dynamic` (w − d + 1)/w, `flat` 1."""
    d = np.arange(window + 1, dtype=np.float64)
    found = {"harmonic": 1 / np.maximum(d, 1), "dynamic": (window - d + 1) / window, "flat": np.ones(window + 1)}
    return found[weighting]


def most_events(text: Text, window: int) -> int:
    """Pairs that can be met at most."""
    return text.tokens * window


def count_pairs(text: Text, weights: np.ndarray, scratch: Scratch) -> Pairs:
    """The weight of every pair of words; where the scratch has a limit, memory stays below it."""
    steps.debug("counting pairs of words")
    most = most_events(text, len(weights) - 1) + 2 * len(weights)
    free = most if scratch.limit is None else (scratch.limit - PROGRAM - CELLS * 8) // (EVENT + PAIR)
    runs = list(_counted(text, np.rint(weights * ONE).astype(np.int64), np.empty(min(most, free), np.int64), scratch))
    return merged(runs, scratch)


def cells_for(size: int, most: int) -> Cells:
    """Cells for pairs whose product of ranks is small, as many as there may be; rows are sorted by frequency."""
    ranks, product = np.arange(size, dtype=np.int64), most
    while True:
        limits = np.minimum(size, product // (ranks + 1))
        widths = np.maximum(limits - ranks, 0)
        if widths.sum() <= most:
            break
        product = product * 3 // 4
    offsets = np.cumsum(widths) - widths - ranks
    return Cells(limits, offsets, np.zeros(int(widths.sum()), np.int64))


def _counted(text: Text, units: np.ndarray, events: np.ndarray, scratch: Scratch) -> Iterator[Pairs]:
    """Sorted runs, each of as many events as there is room for; the last is of the frequent pairs."""
    from chainrule.kernels.vectors_counting import count_pairs as count

    size, reach = text.vocabulary_size, len(units) - 1
    shift, cells = reach.bit_length(), cells_for(size, CELLS)
    assert size**2 << shift < 2**63
    recent, held, position, used = np.zeros(2 * reach, np.int64), np.zeros(2, np.int64), 0, 0
    while position < len(text.ids):
        read, used = count(frozen(text.ids[position : position + IDS]), text.row_of, units, size, shift, *cells, events,
                           used, recent, held)
        position += read
        if scratch.limit is not None:
            drop_pages(text.ids)
        if used + 2 * reach > len(events):
            yield _added_up(events[:used], units, shift, size, scratch)
            used = 0
    yield _added_up(events[:used], units, shift, size, scratch)
    yield _gathered(cells, size, scratch)


def _added_up(events: np.ndarray, units: np.ndarray, shift: int, size: int, scratch: Scratch) -> Pairs:
    from chainrule.kernels.vectors_counting import add_up, count_keys

    events.sort()
    found = _room(count_keys(events, shift), size, scratch)
    scratch.relax(need=len(found.keys) * PAIR)
    add_up(events, shift, units, found.keys, found.sums)
    scratch.relax()
    return found


def _gathered(cells: Cells, size: int, scratch: Scratch) -> Pairs:
    from chainrule.kernels.vectors_counting import gather_cells

    found = _room(int(np.count_nonzero(cells.values)), size, scratch)
    gather_cells(cells.values, cells.limits, cells.offsets, size, found.keys, found.sums)
    return found


def _room(count: int, size: int, scratch: Scratch) -> Pairs:
    return Pairs(scratch.empty(count, np.int64), scratch.empty(count, np.int64), size)


def merged(runs: list[Pairs], scratch: Scratch) -> Pairs:
    """All runs in one pass: of each a block, up to the smallest last key of the blocks that have more after them."""
    lengths = [len(run.keys) for run in runs]
    block = max(BLOCK // len(runs), 1) if scratch.limit is not None else max(lengths)
    out, filled, places = _room(sum(lengths), runs[0].vocabulary_size, scratch), 0, [0] * len(runs)
    while any(place < length for place, length in zip(places, lengths, strict=True)):
        ends = [min(place + block, length) for place, length in zip(places, lengths, strict=True)]
        edge = min((run.keys[end - 1] for run, end in zip(runs, ends, strict=True) if end < len(run.keys)),
                   default=None)
        if edge is not None:
            ends = [place + int(np.searchsorted(run.keys[place:end], edge, "right"))
                    for run, place, end in zip(runs, places, ends, strict=True)]
        keys, sums = _merged_in_memory([(run.keys[place:end], run.sums[place:end])
                                        for run, place, end in zip(runs, places, ends, strict=True)])
        out.keys[filled : filled + len(keys)], out.sums[filled : filled + len(keys)] = keys, sums
        places, filled = ends, filled + len(keys)
        scratch.relax()
    return Pairs(out.keys[:filled], out.sums[:filled], out.vocabulary_size)


def _merged_in_memory(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Two by two, as often as it takes."""
    from chainrule.kernels.vectors_counting import merge_two

    while len(parts) > 1:
        pairs = list(zip(parts[::2], parts[1::2], strict=False))
        rest = parts[2 * len(pairs) :]
        parts = []
        for one, other in pairs:
            keys, sums = (np.empty(len(one[0]) + len(other[0]), np.int64) for _ in range(2))
            count = merge_two(*map(frozen, (*one, *other)), keys, sums)
            parts.append((keys[:count], sums[:count]))
        parts += rest
    return parts[0]


def count_plainly(text: Text, weights: np.ndarray) -> dict[tuple[int, int], float]:
    """The definition: every pair of words in a unit that is at most a window apart."""
    found: dict[tuple[int, int], float] = {}
    unit: list[int] = []
    for row in [*text.row_of[text.ids].tolist(), UNIT_ENDS]:
        if row == UNIT_ENDS:
            for i, one in enumerate(unit):
                for d, other in enumerate(unit[i + 1 : i + len(weights)], start=1):
                    pair = min(one, other), max(one, other)
                    found[pair] = found.get(pair, 0.0) + weights[d] * (2 if one == other else 1)
            unit = []
        elif row >= 0:
            unit.append(row)
    return found
