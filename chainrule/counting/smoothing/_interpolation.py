"""Interpolation weights by expectation–maximization: how far down the orders each held-out token had to go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.counting.count import with_start_marks
from chainrule.counting.query import nodes_of
from chainrule.counting.smoothing._method import Evidence
from chainrule.counting.table import find_continuations

BUCKETS = 32  # contexts seen 1, 2–3, 4–7, … times
NEVER = BUCKETS  # the bucket of contexts that were never seen; their weight is 0
SUREST = 1 - 1e-6  # no weight reaches 1, so every word keeps some probability
MOST_TOKENS = 1_000_000  # of held-out text: enough for 32 weights an order, in tens of megabytes


def bucket_of(totals: np.ndarray) -> np.ndarray:
    """⌊log₂ c(h·)⌋, and `NEVER` for 0."""
    return np.where(totals > 0, np.frexp(totals)[1] - 1, NEVER)


@dataclass(frozen=True)
class HeldOut:
    """For each held-out token and each order n: c(hw)/c(h·), and the bucket of h."""

    frequency_NT: np.ndarray
    bucket_NT: np.ndarray
    floor: float  # 1/V, below order 1

    @classmethod
    def look_up(cls, evidence: Evidence) -> HeldOut:
        assert evidence.held_out is not None
        counts = evidence.counts
        text = with_start_marks(evidence.held_out[:MOST_TOKENS], counts.start, evidence.end)
        predicted = np.flatnonzero((text != counts.start) & ~np.isin(text, evidence.barred))
        nodes = nodes_of(counts, text, evidence.end)
        frequency_NT, bucket_NT = np.zeros((2, counts.order, len(predicted)))
        for n, level in enumerate(counts.levels):
            seen = _counts_at(level.counts, nodes[n][predicted])
            totals = _totals(evidence, n, nodes[n - 1][predicted - 1])
            frequency_NT[n] = seen / np.maximum(totals, 1)
            bucket_NT[n] = bucket_of(totals)
        return cls(frequency_NT, bucket_NT.astype(np.intp), 1.0 / evidence.vocabulary_size)

    def step(self, weights_NB: np.ndarray) -> tuple[np.ndarray, float]:
        """One round: weights that are at least as good, and ln p per token under the ones given.

        A token walks down from order N: at each order it stops with probability λ, and is then drawn from the relative
        frequencies. The new λ of a bucket is the share of those arriving there that stop.
        """
        stop_NT = np.take_along_axis(weights_NB, self.bucket_NT, axis=1)
        p_NT = np.empty_like(stop_NT)
        below: np.ndarray | float = self.floor
        for n, stop in enumerate(stop_NT):
            p_NT[n] = below = stop * self.frequency_NT[n] + (1 - stop) * below
        better_NB = weights_NB.copy()
        arriving = np.ones(p_NT.shape[1])
        for n in reversed(range(len(p_NT))):
            stopped = arriving * stop_NT[n] * self.frequency_NT[n] / p_NT[n]
            stops, visits = (np.bincount(self.bucket_NT[n], w, minlength=BUCKETS + 1) for w in (stopped, arriving))
            visited = np.flatnonzero(visits[:NEVER])
            better_NB[n, visited] = np.minimum(stops[visited] / visits[visited], SUREST)
            arriving = np.maximum(arriving - stopped, 0.0)
        return better_NB, float(np.log(p_NT[-1]).mean())

    def fill(self, weights_NB: np.ndarray) -> np.ndarray:
        """Buckets that the held-out text never visited take their weight from their neighbors."""
        filled_NB = weights_NB.copy()
        for n, buckets in enumerate(self.bucket_NT):
            visited = np.setdiff1d(buckets, [NEVER])
            if len(visited):
                filled_NB[n, :NEVER] = np.interp(np.arange(BUCKETS), visited, weights_NB[n, visited])
        return filled_NB


def _totals(evidence: Evidence, n: int, contexts: np.ndarray) -> np.ndarray:
    """c(h·) of each context of n words, without the words that are never predicted."""
    counts = evidence.counts
    if n == 0:
        never = sum(int(counts.levels[0].counts[word]) for word in evidence.barred if word != counts.start)
        return np.full(len(contexts), float(counts.tokens - never))
    totals = _counts_at(counts.levels[n - 1].counts, contexts)
    for word in evidence.barred:
        followed = find_continuations(counts, n + 1, contexts, np.full(len(contexts), word))
        totals -= _counts_at(counts.levels[n].counts, followed)
    return totals


def _counts_at(counts: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The count of each node, 0 for −1."""
    return np.where(nodes >= 0, counts[np.maximum(nodes, 0)] if len(counts) else 0, 0).astype(np.float64)
