"""Entropy pruning: leave out the n-grams that the shorter context predicts almost as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from chainrule.counting.counts import context_chunks
from chainrule.counting.scratch import Scratch
from chainrule.counting.suffixes import CHUNK, lower_log_probs, suffix_nodes
from chainrule.counting.table import Table, TableLevel
from chainrule.errors import OptionError

NOTHING = 1e-6  # what is left of a sum of float32 numbers when nothing should be


def prune_by_entropy(table: Table, threshold: float, scratch: Scratch | None = None) -> Table:
    r"""Leaves out each n-gram whose absence raises the model's perplexity on its own text by less than this fraction.

    e^D − 1 < threshold,   α′(h) = (1 − Σ p(v|h) + p(w|h)) / (1 − Σ p(v|h′) + p(w|h′))   for hw alone left out
    D = −p(h) { p(w|h) [ln p(w|h′) + ln α′(h) − ln p(w|h)] + (1 − Σ p(v|h)) [ln α′(h) − ln α(h)] }
    with sums over the v stored after h. Stolcke 1998, arXiv:cs/0006025. The longest n-grams come first; one that is the
    context of a longer one that stays has to stay; p(h) is the model's own, with p(<s>) = p(</s>); at the end all
    back-offs are recomputed. Arrays with a row for each n-gram are in the `scratch`.
    """
    if not 0 <= threshold < np.inf:
        raise OptionError("model.prune_entropy", threshold, "0 or more", "Try 1e-8; larger leaves out more.")
    if threshold == 0 or table.order == 1:
        return table
    scratch = scratch or Scratch()
    suffixes, chain = _all_suffixes(table, scratch), _chain(table, scratch)
    keep = [np.ones(len(table.levels[0]), bool)] + [scratch.empty(len(level), np.bool_) for level in table.levels[1:]]
    for n in range(table.order, 1, -1):
        for here, lost in _divergence(table, n, suffixes, chain[n - 2]):
            keep[n - 1][here] = np.expm1(lost) >= threshold
            scratch.relax()
        if n < table.order:
            _keep_contexts(table, n, keep)
    return table if all(k.all() for k in keep) else with_new_backoffs(_only(table, keep, scratch), scratch)


def _all_suffixes(table: Table, scratch: Scratch) -> list[np.ndarray]:
    suffixes = [np.zeros(0, np.int32)]
    for n in range(2, table.order + 1):
        suffixes.append(suffix_nodes(table, n, suffixes[-1], scratch))
    return suffixes


def _chain(table: Table, scratch: Scratch) -> list[np.ndarray]:
    """ln p(w₁…w_n) = Σ ln p(w_i|w₁…w_{i−1}) of each stored context; there are as many <s> as </s>."""
    first = table.levels[0].log_probs[:].astype(np.float64)
    first[table.start] = first[table.end]
    chain = [first]
    for n in range(2, table.order):
        longer = scratch.empty(len(table.levels[n - 1]), np.float64)
        for low, high, here, starts in _groups(table, n):
            longer[here] = np.repeat(chain[-1][low:high], np.diff(starts)) + table.levels[n - 1].log_probs[here]
            scratch.relax()
        chain.append(longer)
    return chain


def _divergence(table: Table, n: int, suffixes: list[np.ndarray], chain: np.ndarray
                ) -> Iterator[tuple[slice, np.ndarray]]:
    """D of the n-grams of order n, as in `prune_by_entropy`: a stretch of them at a time."""
    backoffs = table.levels[n - 2].backoffs
    assert backoffs is not None
    for low, high, here, starts in _groups(table, n):
        log_p = table.levels[n - 1].log_probs[here].astype(np.float64)
        log_q = lower_log_probs(table, n, suffixes[n - 1][here], here.start)
        p, q, sizes = np.exp(log_p), np.exp(log_q), np.diff(starts)
        rest = np.maximum(1.0 - _sums(q, starts), 0.0)
        left, rest, log_alpha, log_h = (np.repeat(x, sizes) for x in (
            np.exp(backoffs[low:high]) * rest, rest, backoffs[low:high].astype(np.float64), chain[low:high]))
        with np.errstate(divide="ignore", invalid="ignore"):
            new_alpha = np.log(left + p) - np.log(rest + q)
            words = np.where(p > 0, p * (log_q + new_alpha - log_p), 0.0)
            others = np.where(left > 0, left * (new_alpha - log_alpha), 0.0)
            lost = -np.exp(log_h) * (words + others)
        yield here, np.where(np.isnan(lost), np.inf, lost)  # no probability to fall back to: it has to stay


def with_new_backoffs(table: Table, scratch: Scratch) -> Table:
    """The same n-grams with α(h) = (1 − Σ p(w|h)) / (Σ_all p(w|h′) − Σ p(w|h′)), sums over the w stored after h.

    From the shortest contexts up, as the longer ones fall back to them. Σ_all is one but for rounding, and that is
    followed too: where a few stored words have nearly all the probability, it would otherwise be multiplied.
    """
    levels = list(table.levels)
    suffixes: np.ndarray | None = None
    predicted = np.delete(levels[0].log_probs[:], table.start).astype(np.float64)
    totals = np.full(1, np.exp(predicted).sum())
    for n in range(2, table.order + 1):
        shorter = Table(levels[:n], table.start, table.end, table.unknown)
        longer = suffix_nodes(shorter, n, np.zeros(0, np.int32) if suffixes is None else suffixes, scratch)
        below = _below(suffixes, totals, len(levels[n - 2]), scratch)
        backoffs, totals = _new_backoffs(shorter, n, longer, below, scratch)
        levels[n - 2] = TableLevel(levels[n - 2].words, levels[n - 2].log_probs, backoffs, levels[n - 2].starts)
        suffixes = longer
    return Table(levels, table.start, table.end, table.unknown)


def _below(suffixes: np.ndarray | None, totals: np.ndarray, size: int, scratch: Scratch) -> np.ndarray:
    """The sum of the row of h′ for each of `size` contexts h: 1 where h′ is not stored."""
    found = scratch.empty(size, np.float64)
    for first in range(0, size, CHUNK):
        here = slice(first, first + CHUNK)
        found[here] = totals[0] if suffixes is None else np.where(suffixes[here] >= 0, totals[suffixes[here]], 1.0)
        scratch.relax()
    return found


def _new_backoffs(table: Table, n: int, suffixes: np.ndarray, below: np.ndarray, scratch: Scratch
                  ) -> tuple[np.ndarray, np.ndarray]:
    """ln α of each context of n−1 words, and what its row then sums to; `below` is what the row of h′ sums to."""
    log_alpha, totals = scratch.zeros(len(below), np.float32), scratch.empty(len(below), np.float64)
    for low, high, here, starts in _groups(table, n):
        p = _sums(np.exp(table.levels[n - 1].log_probs[here].astype(np.float64)), starts)
        q = _sums(np.exp(lower_log_probs(table, n, suffixes[here], here.start)), starts)
        left, rest = np.maximum(1.0 - p, 0.0), np.maximum(below[low:high] - q, 0.0)
        spent = (left <= NOTHING) & (rest <= NOTHING)
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = np.where(spent, 0.0, left / rest)
            alpha[np.diff(starts) == 0] = 1.0
            log_alpha[low:high] = np.log(alpha)
        totals[low:high] = p + np.exp(log_alpha[low:high].astype(np.float64)) * rest
        scratch.relax()
    return log_alpha, totals


def _groups(table: Table, n: int) -> Iterator[tuple[int, int, slice, np.ndarray]]:
    """Contexts low … high−1 of n−1 words, where their continuations lie, and each one's first of them within that."""
    starts = table.levels[n - 2].starts
    assert starts is not None
    for low, high in context_chunks(starts, CHUNK):
        local = starts[low:high + 1].astype(np.int64)
        yield low, high, slice(int(local[0]), int(local[-1])), local - local[0]


def _sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums of per-n-gram values for each context."""
    sums = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
    return sums


def _keep_contexts(table: Table, n: int, keep: list[np.ndarray]) -> None:
    """An n-gram of order n of which some continuation is kept has to stay."""
    for low, high, here, starts in _groups(table, n + 1):
        keep[n - 1][low:high] |= _sums(keep[n][here], starts) > 0


def _only(table: Table, keep: list[np.ndarray], scratch: Scratch) -> Table:
    """The n-grams that are kept, their numbers unchanged."""
    levels = []
    for n, (level, mine) in enumerate(zip(table.levels, keep, strict=True)):
        size = int(np.count_nonzero(mine))
        words, log_probs = (_picked(array, mine, scratch.empty(size, dtype), scratch) for array, dtype in (
            (level.words, np.int32), (level.log_probs, np.float32)))
        backoffs = None if level.backoffs is None else _picked(level.backoffs, mine, scratch.empty(size, np.float32),
                                                               scratch)
        starts = None if level.starts is None else _new_starts(table, n + 2, keep, scratch.zeros(size + 1, np.uint32))
        levels.append(TableLevel(words, log_probs, backoffs, starts))
    return Table(levels, table.start, table.end, table.unknown)


def _picked(array: Any, keep: np.ndarray, into: np.ndarray, scratch: Scratch) -> np.ndarray:
    """array[keep], a stretch at a time."""
    at = 0
    for first in range(0, len(keep), CHUNK):
        some = array[first : first + CHUNK][keep[first : first + CHUNK]]
        into[at : at + len(some)] = some
        at += len(some)
        scratch.relax()
    return into


def _new_starts(table: Table, n: int, keep: list[np.ndarray], into: np.ndarray) -> np.ndarray:
    """Where the kept continuations of each kept context begin; of a context that goes, none is kept."""
    at = total = 0
    for low, high, here, starts in _groups(table, n):
        sizes = _sums(keep[n - 1][here], starts)[keep[n - 2][low:high]]
        into[at + 1 : at + 1 + len(sizes)] = total + np.cumsum(sizes)
        at, total = at + len(sizes), total + int(sizes.sum())
    return into
