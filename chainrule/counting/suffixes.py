"""The probability of a stored n-gram's last word without its first word, in tables that may lack suffixes."""

from __future__ import annotations

import numpy as np

from chainrule.counting.counts import context_chunks
from chainrule.counting.query import score_stream_plainly
from chainrule.counting.scratch import Scratch
from chainrule.counting.table import Table, find_continuations

CHUNK = 1 << 18  # n-grams looked up at a time


def suffix_nodes(table: Table, order: int, shorter: np.ndarray, scratch: Scratch) -> np.ndarray:
    """For each n-gram w₁…w_n of this order the node of w₂…w_n or −1; `shorter` are those of order n−1, if n > 2."""
    level, starts = table.levels[order - 1], table.levels[order - 2].starts
    assert starts is not None
    if order == 2:
        return level.words.astype(np.int32, copy=False)
    found = scratch.empty(len(level), np.int32)
    for low, high in context_chunks(starts, CHUNK):
        here = slice(int(starts[low]), int(starts[high]))
        contexts = np.repeat(shorter[low:high], np.diff(starts[low:high + 1]))
        found[here] = find_continuations(table, order - 1, contexts, level.words[here])
        scratch.relax()
    return found


def lower_log_probs(table: Table, order: int, suffixes: np.ndarray, first: int) -> np.ndarray:
    """ln p(w_n | w₂…w_{n−1}) for the n-grams of this order from node `first` on, whose suffixes are given."""
    stored = suffixes >= 0
    log_probs = np.empty(len(suffixes))
    log_probs[stored] = table.levels[order - 2].log_probs[suffixes[stored]]
    missing = np.flatnonzero(~stored)
    if len(missing):
        words = spelled(table, order, missing + first)[:, 1:]
        shorter = Table(table.levels[:order - 1], table.start, table.end, table.unknown)
        # rows may follow each other without a break: the last column looks back exactly one row
        log_probs[missing] = score_stream_plainly(shorter, words.ravel()).reshape(words.shape)[:, -1]
    return log_probs


def spelled(table: Table, order: int, nodes: np.ndarray) -> np.ndarray:
    """The words of these n-grams, a row each."""
    words = np.empty((len(nodes), order), np.int32)
    for n in range(order, 0, -1):
        words[:, n - 1] = table.levels[n - 1].words[nodes]
        if n > 1:
            starts = table.levels[n - 2].starts
            assert starts is not None
            nodes = np.searchsorted(starts, nodes, side="right") - 1
    return words
