"""From counts to a table of probabilities, whatever the smoothing method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chainrule.counting.counts import Counts, context_chunks
from chainrule.counting.links import continuation_counts, suffix_links
from chainrule.counting.scratch import Scratch
from chainrule.counting.smoothing._method import Evidence, Group, Smoothing
from chainrule.counting.table import Table, TableLevel
from chainrule.threads import side_by_side

CHUNK = 1 << 18  # n-grams worked on at a time: the temporary arrays stay near the processor


@dataclass(frozen=True)
class Marks:
    """The token ids with a meaning of their own, and whether <unk> may be predicted."""

    start: int
    end: int
    unknown: int | None
    predicts_unknown: bool

    def cannot_be_predicted(self) -> list[int]:
        barred = [self.start]
        if self.unknown is not None and not self.predicts_unknown:
            barred.append(self.unknown)
        return barred


def estimate(counts: Counts, method: Smoothing, marks: Marks, *, prune: list[int], scratch: Scratch,
             held_out: np.ndarray | None = None, say: Callable[[str], None]) -> Table:
    """p(w|h) = kept(hw)/mass(h) + γ(h) p(w|h′), from the shortest contexts to the longest."""
    links: list[np.ndarray] = [np.zeros(0, np.uint32)]
    for n in range(2, counts.order + 1):
        links.append(suffix_links(counts, n, links[-1], scratch))
    used = _counts_to_use(counts, method, links, scratch)
    barred = marks.cannot_be_predicted()
    size = counts.vocabulary_size - len(barred)
    method.fit(Evidence(counts, [_count_of_counts(c, scratch) for c in used], size, held_out, marks.end, say,
                        barred=tuple(barred), unknown=marks.unknown if marks.predicts_unknown else None))

    limits = _limits(prune, counts.order)
    probs, backoffs = [_unigrams(counts, used[0], method, barred)], []
    for n in range(2, counts.order + 1):
        orders = _Order(counts, n, used[n - 1], links[n - 1], limits[n - 1], barred)
        p, gamma = _one_order(orders, method, probs[-1], scratch)
        probs.append(p)
        backoffs.append(gamma)
    probs, backoffs = [_logs(p, scratch) for p in probs], [_logs(gamma, scratch) for gamma in backoffs]
    levels = [TableLevel(level.words, p, backoffs[n] if n < len(backoffs) else None, level.starts)
              for n, (level, p) in enumerate(zip(counts.levels, probs, strict=True))]
    if any(limits):
        levels = _without_pruned(counts, levels, limits, scratch)
    return Table(levels, marks.start, marks.end, marks.unknown)


def _counts_to_use(counts: Counts, method: Smoothing, links: list[np.ndarray], scratch: Scratch) -> list[np.ndarray]:
    """Raw or continuation counts of each order; <s> is never predicted and has none."""
    used = [level.counts for level in counts.levels]
    if method.uses == "continuation":
        used[:-1] = [continuation_counts(counts, n, links[n], scratch) for n in range(1, counts.order)]
    used[0] = used[0].copy()
    used[0][counts.start] = 0
    return used


def _count_of_counts(used: np.ndarray, scratch: Scratch) -> np.ndarray:
    """How many n-grams have count j, for j = 0 … 8."""
    total = np.zeros(10, np.int64)
    for low in range(0, len(used), CHUNK):
        total += np.bincount(np.minimum(used[low:low + CHUNK], 9), minlength=10)
        scratch.relax()
    return total[:9]


def _limits(prune: list[int], order: int) -> list[int]:
    """One limit an order; the last given repeats."""
    given = list(prune) or [0]
    return (given + [given[-1]] * order)[:order]


def _unigrams(counts: Counts, used: np.ndarray, method: Smoothing, barred: list[int]) -> np.ndarray:
    """Order 1 is smoothed like the others, with the uniform distribution over what can be predicted below it."""
    uniform = np.full(len(used), 1.0 / (len(used) - len(barred)))
    uniform[barred] = 0.0
    seen = used.astype(np.float64)
    seen[barred] = 0.0
    kept, mass = method.share(Group(1, seen, np.array([0, len(used)]), np.array([counts.order == 1])))
    p = kept / mass[0]
    left = _left(1.0 - p.sum())
    if method.interpolates:
        return (p + left * uniform).astype(np.float32)
    unseen = (seen == 0) & (uniform > 0)
    if unseen.any():
        p[unseen] = left / unseen.sum()
    return p / p.sum()


@dataclass(frozen=True)
class _Order:
    """The n-grams of one order, as `_one_order` needs them."""

    counts: Counts
    n: int
    used: np.ndarray
    links: np.ndarray
    limit: int
    barred: list[int]

    def group(self, low: int, high: int) -> tuple[Group, slice]:
        """The continuations of contexts low … high−1, and where they lie."""
        starts = self.counts.levels[self.n - 2].starts
        assert starts is not None
        local = starts[low:high + 1].astype(np.int64)
        here = slice(int(local[0]), int(local[-1]))
        begin_low, begin_high = self.counts.begins(self.n - 1)
        contexts = np.arange(low, high)
        counts = self.used[here].astype(np.float64)
        if len(self.barred) > 1:  # a closed vocabulary: <unk> may stand in the text, and is never predicted
            counts[np.isin(self.counts.levels[self.n - 1].words[here], self.barred)] = 0.0
        whole = (contexts >= begin_low) & (contexts < begin_high) | (self.n == self.counts.order)
        return Group(self.n, counts, local - local[0], whole), here


def _one_order(order: _Order, method: Smoothing, lower: np.ndarray, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
    """p of each n-gram and γ of each context one order below."""
    starts, level = order.counts.levels[order.n - 2].starts, order.counts.levels[order.n - 1]
    assert starts is not None
    precision = np.float32 if method.interpolates else np.float64  # back-off divides by what is left of a sum of these
    p_all, gamma_all = scratch.empty(len(level), precision), scratch.empty(len(starts) - 1, np.float32)

    def work(chunk: tuple[int, int]) -> None:
        group, here = order.group(*chunk)
        keep = level.counts[here] > order.limit if order.limit else None
        p_all[here], gamma_all[slice(*chunk)] = _one_group(group, method, lower[order.links[here]], keep)
        scratch.relax()

    side_by_side(work, context_chunks(starts, CHUNK))
    return p_all, gamma_all


def _one_group(group: Group, method: Smoothing, lower: np.ndarray,
               keep: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    kept, mass = method.share(group)
    if keep is not None:
        kept = np.where(keep, kept, 0.0)  # what is pruned leaves its whole mass to the shorter context
    filled = group.totals > 0
    safe_mass = np.where(filled, mass, 1.0)
    left = _left(np.where(filled, (safe_mass - group.sum(kept)) / safe_mass, 1.0))
    p = kept / group.spread(safe_mass)
    if method.interpolates:
        return p + group.spread(left) * lower, left
    stored = lower if keep is None else np.where(keep, lower, 0.0)
    rest = 1.0 - group.sum(stored)
    exhausted = filled & (rest <= 1e-9)  # the shorter context has no other words: the seen ones take all
    gamma = np.where(exhausted, 0.0, left / np.where(rest <= 1e-9, 1.0, rest))
    scale = np.where(exhausted & (left < 1.0), 1.0 / np.where(left < 1.0, 1.0 - left, 1.0), 1.0)
    return p * group.spread(scale), np.where(filled, gamma, 1.0)


def _left(mass: np.ndarray) -> np.ndarray:
    """Less than 10⁻¹² is rounding, not probability."""
    return np.where(mass < 1e-12, 0.0, mass)


def _logs(values: np.ndarray, scratch: Scratch) -> np.ndarray:
    """In place where they are float32, a piece at a time; ln 0 = −∞ is intended."""
    logs = values if values.dtype == np.float32 else scratch.empty(len(values), np.float32)

    def work(low: int) -> None:
        here = slice(low, low + CHUNK)
        with np.errstate(divide="ignore"):
            np.log(values[here], out=logs[here], casting="same_kind")
        scratch.relax()

    side_by_side(work, range(0, len(values), CHUNK))
    return logs


def _without_pruned(counts: Counts, levels: list[TableLevel], limits: list[int], scratch: Scratch) -> list[TableLevel]:
    """Leaves out n-grams at or below their order's limit; what they begin with stays, as limits only grow."""
    slim = []
    for n, level in enumerate(levels):
        keep = _kept_nodes(counts, n, limits, scratch)
        starts = level.starts
        if starts is not None:
            before = np.searchsorted(_kept_nodes(counts, n + 1, limits, scratch), starts)  # kept ones before each start
            starts = np.append(before[keep], before[-1]).astype(np.uint32)
        backoffs = None if level.backoffs is None else level.backoffs[keep]
        slim.append(TableLevel(level.words[keep], level.log_probs[keep], backoffs, starts))
        scratch.relax()
    return slim


def _kept_nodes(counts: Counts, n: int, limits: list[int], scratch: Scratch) -> np.ndarray:
    found = counts.levels[n].counts
    if not limits[n]:
        return np.arange(len(found))
    pieces = [np.zeros(0, np.int64)]
    for low in range(0, len(found), CHUNK):
        pieces.append(np.flatnonzero(found[low:low + CHUNK] > limits[n]) + low)
        scratch.relax()
    return np.concatenate(pieces)
