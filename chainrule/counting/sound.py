"""A table is checked before it is saved: numbers are finite, and probabilities after sampled contexts sum to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from chainrule.counting.model import NGram, NGramState
from chainrule.counting.quantized import Quantized
from chainrule.counting.scratch import Scratch
from chainrule.counting.table import Numbers, Table, find_continuations
from chainrule.storage.index_arrays import pieces

SAMPLE = 4  # contexts of each order with the largest back-off weights, and as many others all over the order
LARGEST_SUM = 1.1  # of imported probabilities after a context: some programs round to a few digits, or prune roughly
ABOVE_ONE = 1e-3  # ln p above 0 by rounding


def unsound(table: Table, token: Callable[[int], object], *, least: float, most: float,
            scratch: Scratch | None = None) -> str | None:
    """What is wrong with a table, in words; None where its probabilities sum to `least` to `most`, 1 but for rounding.

    Σ_w p(w|h) is taken for the empty unit and for contexts h of every order, first of all those with the largest γ(h).
    """
    scratch = scratch or Scratch()
    for n, level in enumerate(table.levels, start=1):
        if not _all(level.log_probs, lambda x: x <= ABOVE_ONE, scratch):
            return f"a probability of order {n} is not a number from 0 to 1"
        if level.backoffs is not None and not _all(level.backoffs, lambda x: x < np.inf, scratch):
            return f"a back-off weight of order {n} is not a finite number"
    model = NGram(table)
    for words in _contexts(table, scratch):
        with np.errstate(over="ignore"):
            total = float(np.exp(model.log_probs(_after(table, words))[0]).sum())
        if not least <= total <= most:
            shown = " ".join(str(token(word)) for word in words)
            return f"the probabilities after {shown!r} sum to {total:.4g}, expected 1"
    return None


def _all(numbers: Numbers, good: Callable[[np.ndarray], np.ndarray], scratch: Scratch) -> bool:
    """Whether a condition holds for all numbers; NaN fulfills none."""
    values = numbers.book if isinstance(numbers, Quantized) else numbers
    for _, piece in pieces(values):
        if not good(piece).all():
            return False
        scratch.relax()
    return True


def _largest(numbers: Numbers, scratch: Scratch) -> np.ndarray:
    """Where the SAMPLE largest numbers are; codes are in the order of their numbers."""
    values = numbers.codes if isinstance(numbers, Quantized) else numbers
    found = np.zeros(0, np.int64)
    for low, piece in pieces(values):
        best = low + np.argpartition(piece, -min(SAMPLE, len(piece)))[-SAMPLE:]
        found = np.concatenate([found, best])
        found = found[np.argsort(values[found], kind="stable")[-SAMPLE:]]
        scratch.relax()
    return found


def _contexts(table: Table, scratch: Scratch) -> Iterator[list[int]]:
    """Words of contexts, of order 1 first; </s> ends a unit and is never one."""
    yield [table.start]
    for n, level in enumerate(table.levels[:-1], start=1):
        if not len(level):
            return
        assert level.backoffs is not None
        spread = np.linspace(0, len(level) - 1, SAMPLE).astype(np.int64)
        for node in np.unique(np.concatenate([_largest(level.backoffs, scratch), spread])).tolist():
            words = _words(table, n, node)
            if table.end not in words:
                yield words


def _words(table: Table, order: int, node: int) -> list[int]:
    """The n-gram of a node: its last word, then that of the context whose continuation it is, …"""
    words: list[int] = []
    for n in range(order, 0, -1):
        words.insert(0, int(table.levels[n - 1].words[node]))
        if n > 1:
            starts = table.levels[n - 2].starts
            assert starts is not None
            node = int(np.searchsorted(starts, starts.dtype.type(node), side="right")) - 1
    return words


def _after(table: Table, words: list[int]) -> NGramState:
    """The state that has read just these words: the node of each of their suffixes."""
    nodes = np.full((1, table.order - 1), -1, np.int64)
    for n in range(1, min(len(words), table.order - 1) + 1):
        found = np.array(words[-n:][:1], np.int64)
        for order, word in enumerate(words[-n:][1:], start=2):
            found = find_continuations(table, order, found, np.array([word]))
        nodes[0, n - 1] = found[0]
    return NGramState(nodes)
