"""From counts to a table of probabilities, whatever the smoothing method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chainrule.counting.counts import Counts, Level, context_chunks
from chainrule.counting.links import continuation_counts, suffix_links
from chainrule.counting.smoothing._method import Evidence, Group, Smoothing
from chainrule.counting.table import Table, TableLevel

CHUNK = 1 << 20  # n-grams worked on at a time: the temporary arrays stay in the tens of megabytes


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


def estimate(counts: Counts, method: Smoothing, marks: Marks, *, prune: list[int],
             held_out: np.ndarray | None = None, say: Callable[[str], None] = print) -> Table:
    """p(w|h) = kept(hw)/mass(h) + γ(h) p(w|h′), from the shortest contexts to the longest."""
    links: list[np.ndarray | None] = [None]
    for n in range(2, counts.order + 1):
        links.append(suffix_links(counts, n, links[-1]))
    used = _counts_to_use(counts, method, links)
    barred = marks.cannot_be_predicted()
    size = counts.vocabulary_size - len(barred)
    method.fit(Evidence(counts, [_count_of_counts(c) for c in used], size, held_out, marks.end, say))

    keep = [_kept(level, limit) for level, limit in zip(counts.levels, _limits(prune, counts.order), strict=True)]
    probs = [_unigrams(counts, used[0], method, barred)]
    backoffs: list[np.ndarray] = []
    for n in range(2, counts.order + 1):
        p, gamma = _one_order(counts, n, used[n - 1], keep[n - 1], method, links[n - 1], probs[-1])
        probs.append(p)
        backoffs.append(gamma)
    return Table(_levels(counts, probs, backoffs, keep), marks.start, marks.end, marks.unknown)


def _counts_to_use(counts: Counts, method: Smoothing, links: list[np.ndarray | None]) -> list[np.ndarray]:
    if method.uses == "raw":
        raw = [level.counts for level in counts.levels]
        raw[0] = raw[0].copy()
        raw[0][counts.start] = 0
        return raw
    lower = [continuation_counts(counts, n, links[n]) for n in range(1, counts.order)]  # type: ignore[arg-type]
    top = counts.levels[-1].counts
    if counts.order == 1:
        top = top.copy()
        top[counts.start] = 0
    return [*lower, top]


def _count_of_counts(used: np.ndarray) -> np.ndarray:
    return np.bincount(np.minimum(used, 9), minlength=10)[:9]


def _limits(prune: list[int], order: int) -> list[int]:
    """One limit an order; the last given repeats."""
    given = list(prune) or [0]
    return (given + [given[-1]] * order)[:order]


def _kept(level: Level, limit: int) -> np.ndarray | None:
    return None if limit == 0 else level.counts > limit


def _unigrams(counts: Counts, used: np.ndarray, method: Smoothing, barred: list[int]) -> np.ndarray:
    """Order 1 is smoothed like the others, with the uniform distribution over what can be predicted below it."""
    uniform = np.full(len(used), 1.0 / (len(used) - len(barred)))
    uniform[barred] = 0.0
    seen = used.astype(np.float64)
    seen[barred] = 0.0
    group = Group(1, seen, np.array([0, len(used)]), np.array([counts.order == 1]))
    kept, mass = method.share(group)
    p = np.where(seen > 0, kept, 0.0) / mass[0]
    left = 1.0 - p.sum()
    if method.interpolates:
        return p + left * uniform
    unseen = (seen == 0) & (uniform > 0)
    if unseen.any():
        p[unseen] = left / unseen.sum()
        return p
    return p / p.sum()


def _one_order(counts: Counts, n: int, used: np.ndarray, keep: np.ndarray | None, method: Smoothing,
               links: np.ndarray | None, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p of each n-gram (float32) and γ of each context one order below (float32)."""
    assert links is not None
    starts = counts.levels[n - 2].starts
    assert starts is not None
    begin_low, begin_high = counts.begins(n - 1)
    p_all, gamma_all = np.empty(len(used), np.float32), np.ones(len(starts) - 1, np.float32)
    for low, high in context_chunks(starts, CHUNK):
        local = starts[low:high + 1].astype(np.int64)
        here = slice(int(local[0]), int(local[-1]))
        contexts = np.arange(low, high)
        whole = (contexts >= begin_low) & (contexts < begin_high) | (n == counts.order)
        group = Group(n, used[here].astype(np.float64), local - local[0], whole)
        p, gamma = _one_group(group, method, lower[links[here]], None if keep is None else keep[here])
        p_all[here], gamma_all[low:high] = p, gamma
    return p_all, gamma_all


def _one_group(group: Group, method: Smoothing, lower: np.ndarray,
               keep: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    kept, mass = method.share(group)
    if keep is not None:
        kept = np.where(keep, kept, 0.0)  # what is pruned leaves its whole mass to the shorter context
    filled = group.types > 0
    safe_mass = np.where(filled, mass, 1.0)
    left = np.where(filled, (safe_mass - group.sum(kept)) / safe_mass, 1.0)
    left = np.where(left < 1e-12, 0.0, left)  # rounding, not probability
    p = kept / group.spread(safe_mass)
    if method.interpolates:
        return p + group.spread(left) * lower, left
    stored = lower if keep is None else np.where(keep, lower, 0.0)
    rest = 1.0 - group.sum(stored)
    exhausted = filled & (rest <= 1e-9)  # the shorter context has no other words: the seen ones take all
    gamma = np.where(exhausted, 0.0, left / np.where(rest <= 1e-9, 1.0, rest))
    scale = np.where(exhausted & (left < 1.0), 1.0 / np.where(left < 1.0, 1.0 - left, 1.0), 1.0)
    return p * group.spread(scale), np.where(filled, gamma, 1.0)


def _levels(counts: Counts, probs: list[np.ndarray], backoffs: list[np.ndarray],
            keep: list[np.ndarray | None]) -> list[TableLevel]:
    """Takes logs and leaves out what is pruned."""
    levels = []
    for n, level in enumerate(counts.levels, start=1):
        mine, above = keep[n - 1], keep[n] if n < counts.order else None
        with np.errstate(divide="ignore"):
            log_probs = np.log(probs[n - 1], dtype=np.float32)
            gamma = np.log(backoffs[n - 1]) if n < counts.order else None
        starts = level.starts
        if starts is not None and above is not None:
            starts = np.concatenate([[0], np.cumsum(above)])[starts].astype(np.uint32)
        words = level.words
        if mine is not None:
            words, log_probs = words[mine], log_probs[mine]
            gamma = None if gamma is None else gamma[mine]
            starts = None if starts is None else np.append(starts[:-1][mine], starts[-1])
        levels.append(TableLevel(words, log_probs, gamma, starts))
    return levels
