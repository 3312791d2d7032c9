"""Writing a table as an ARPA file: orders one after the other, each n-gram a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from chainrule.counting.arpa.numbers import to_decimal
from chainrule.counting.arpa.pipeline import in_order
from chainrule.counting.arpa.spelling import spelled
from chainrule.counting.table import Table
from chainrule.storage.files import created

JIT_PAYS_FROM = 1_000_000  # n-grams: the kernels here compile in about a second
CHUNK = 1 << 17  # n-grams formatted at a time
Lines = Callable[[np.ndarray, np.ndarray, np.ndarray | None], bytes]


def write_arpa(table: Table, spell: Sequence[str] | Callable[[int], str], path: str | Path) -> list[int]:
    """Writes the file atomically (compressed if its name ends in .gz); returns the number of n-grams of each order.

    A line is `log10 p <TAB> w₁ … w_n <TAB> log10 γ`, without γ at the top order, in lexicographic order of ids.
    As in KenLM's files <s>, which is never predicted, has log-probability 0. Probability 0 is −99, as in SRILM's.
    """
    tokens = [spell(i) for i in range(table.vocabulary_size)] if callable(spell) else list(spell)
    words = spelled(table, tokens)
    sizes = [len(level) for level in table.levels]
    lines: Lines = PlainLines(words)
    if sum(sizes) >= JIT_PAYS_FROM:
        from chainrule.kernels.arpa_write import FastLines

        lines = FastLines(words)
    with created(Path(path)) as write:
        write(b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % item for item in enumerate(sizes, start=1)))
        for n in range(1, table.order + 1):
            write(b"\n\\%d-grams:\n" % n)
            for block in _blocks(table, n, lines):
                write(block)
        write(b"\n\\end\\\n")
    return sizes


def _blocks(table: Table, order: int, lines: Lines) -> Iterator[bytes]:
    """The lines of one order, some at a time."""
    level = table.levels[order - 1]

    def block(low: int) -> bytes:
        high = min(low + CHUNK, len(level))
        log_probs = np.minimum(level.log_probs[low:high], 0.0)  # float32 may round a sure word's to just above 0
        if order == 1 and low <= table.start < high:
            log_probs[table.start - low] = 0.0
        backoffs = None if level.backoffs is None or order == table.order else level.backoffs[low:high]
        return lines(grams(table, order, low, high), log_probs, backoffs)

    return in_order(block, range(0, len(level), CHUNK))


def grams(table: Table, order: int, low: int, high: int) -> np.ndarray:
    """int32 (high − low, order): the words of the nodes low … high−1 of an order, from the last to the first."""
    ids = np.empty((high - low, order), np.int32)
    nodes = np.arange(low, high)
    for n in range(order, 0, -1):
        ids[:, n - 1] = table.levels[n - 1].words[nodes]
        if n > 1:
            nodes = _contexts(table.levels[n - 2].starts, nodes)
    return ids


def _contexts(starts: np.ndarray | None, nodes: np.ndarray) -> np.ndarray:
    """For each node (ascending) the node of its context one order below."""
    assert starts is not None
    if len(nodes) == 0:
        return nodes
    first = int(np.searchsorted(starts, nodes[0], side="right")) - 1
    last = int(np.searchsorted(starts, nodes[-1], side="right")) - 1
    return first + np.searchsorted(starts[first + 1:last + 1], nodes, side="right")


class PlainLines:
    """Lines by Python's own formatting; `kernels.arpa_write.FastLines` gives the same bytes."""

    def __init__(self, words: Sequence[str]):
        self.words = np.array(words, dtype=object)

    def __call__(self, ids: np.ndarray, log_probs: np.ndarray, backoffs: np.ndarray | None) -> bytes:
        columns = [to_decimal(log_probs).tolist(), *self.words[ids.T].tolist()]
        line = "%.9g\t" + " ".join(["%s"] * ids.shape[1])
        if backoffs is not None:
            columns.append(to_decimal(backoffs).tolist())
            line += "\t%.9g"
        return "".join(map((line + "\n").__mod__, zip(*columns, strict=True))).encode()
