"""Reading an ARPA file into a table: strict, streaming, from any program's order of lines."""

from __future__ import annotations

import itertools
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np

from chainrule.counting.arpa.frame import read_blocks, read_end, read_header, read_title
from chainrule.counting.arpa.lines import Lines
from chainrule.counting.arpa.numbers import to_natural
from chainrule.counting.arpa.parse import BadLine, Rows, parse_plainly, shown
from chainrule.counting.arpa.pipeline import in_order
from chainrule.counting.arpa.trie import Keyed, Search, Trie, search_plainly
from chainrule.counting.arpa.vocabulary import renumbered
from chainrule.counting.counts import continuation_ids
from chainrule.counting.table import Table
from chainrule.storage.files import opened

JIT_PAYS_FROM = 1_000_000  # n-grams: the kernels here compile in a few seconds
Parse = Callable[[bytes, int, bool], Rows]
log = logging.getLogger("chainrule")


def read_arpa(path: str | Path) -> tuple[Table, list[str]]:
    """The table of a plain, .gz, .bz2 or .xz file and its words: <unk> 0, <s> 1, </s> 2, then as in the file.

    - A missing back-off weight is 1. −99 and below is probability 0, and so is <s>, which is never predicted.
    - An n-gram whose context w₁ … w_{n−1} is not in the file gets it, with the probability that backing off gives and
      weight 1: no probability changes. Missing <unk>, <s> or </s> get probability 0. Each case logs a message.
    - Anything else that breaks the format is a DataError that names the line.
    """
    with opened(Path(path)) as stream:
        lines = Lines(stream, Path(path))
        sizes = read_header(lines)
        words, first = _unigrams(lines, sizes)
        parse, search = _ways(words, sum(sizes))
        trie = Trie(len(words), search, [first])
        for n in range(2, len(sizes) + 1):
            trie.levels.append(_section(lines, n, sizes, trie, parse))
        read_end(lines)
    return trie.table(start=1, end=2, unknown=0), [word.decode() for word in words]


def _unigrams(lines: Lines, sizes: list[int]) -> tuple[list[bytes], Keyed]:
    """The vocabulary grows with the lines; afterwards the marks are moved to the front."""
    ids: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
    lookup = partial(map, ids.__getitem__)
    parse = _naming_lines(lines, lambda block: parse_plainly(block, 1, top=len(sizes) == 1, lookup=lookup))
    begin = read_title(lines, 1)
    parts = [parse(piece) for piece in read_blocks(lines, 1, sizes[0])]
    found = np.concatenate([rows.ids[:, 0] for rows in parts])
    repeated = np.flatnonzero(found != np.arange(len(found)))
    if len(repeated):
        row = int(repeated[0])
        lines.fail(begin + row, f"the 1-gram {shown(list(ids)[found[row]])} is there twice.")
    log_probs = np.concatenate([to_natural(rows.log_probs) for rows in parts])
    backoffs = np.concatenate([to_natural(rows.backoffs) for rows in parts])
    return renumbered(list(ids), log_probs, backoffs, lambda row, problem: lines.fail(begin + row, problem))


def _ways(words: list[bytes], size: int) -> tuple[Parse, Search]:
    """How blocks of lines are parsed and contexts found: in plain Python, or by kernels if the file is large."""
    ids = {word: i for i, word in enumerate(words)}
    ids.setdefault(b"<UNK>", ids[b"<unk>"])

    def lookup(words: list[bytes]) -> Iterable[int]:
        return map(ids.get, words, itertools.repeat(-1))

    if size < JIT_PAYS_FROM:
        return lambda block, order, top: parse_plainly(block, order, top=top, lookup=lookup), search_plainly
    from chainrule.kernels.arpa_read import FastParser, search

    return FastParser(ids, lookup), search


def _section(lines: Lines, n: int, sizes: list[int], trie: Trie, parse: Parse) -> Keyed:
    """One order, sorted."""
    parse_here = _naming_lines(lines, lambda block: parse(block, n, n == len(sizes)))

    def work(piece: tuple[int, bytes]) -> _Placed:
        rows = parse_here(piece)
        contexts = trie.find(rows.ids[:, :-1])
        return _Placed(contexts, rows.ids[:, -1], to_natural(rows.log_probs), to_natural(rows.backoffs),
                       rows.ids[contexts < 0, :-1])

    begin = read_title(lines, n)
    placed = _joined([_Placed.none(n), *in_order(work, read_blocks(lines, n, sizes[n - 1]))])
    contexts = _with_all_contexts(trie, placed)
    keys = continuation_ids(contexts, trie.vocabulary_size, placed.words)
    log_probs, backoffs = placed.log_probs, placed.backoffs
    if not (keys[1:] > keys[:-1]).all():
        order = np.argsort(keys, kind="stable")
        keys, log_probs, backoffs = keys[order], log_probs[order], backoffs[order]
        repeated = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(repeated):
            lines.fail(begin + int(order[repeated].min()), f"this {n}-gram is in the file twice.")
    return trie.keyed(n, keys, log_probs, backoffs)


@dataclass(frozen=True)
class _Placed:
    """n-grams in the order of the file, their contexts found; −1 where a context is missing."""

    contexts: np.ndarray  # int64 (m,)
    words: np.ndarray  # int32 (m,)
    log_probs: np.ndarray  # float32 (m,), ln
    backoffs: np.ndarray  # float32 (m,), ln
    missing: np.ndarray  # int32 (k, n − 1): the contexts that are not there

    @classmethod
    def none(cls, n: int) -> _Placed:
        return cls(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32),
                   np.empty((0, n - 1), np.int32))


def _joined(parts: list[_Placed]) -> _Placed:
    return _Placed(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(_Placed)))


def _with_all_contexts(trie: Trie, placed: _Placed) -> np.ndarray:
    """The context of every n-gram; those that the file lacks are put into the trie first."""
    if len(placed.missing) == 0:
        return placed.contexts
    distinct = np.unique(placed.missing, axis=0)
    log.info(f"{len(distinct):,} n-grams of order {distinct.shape[1]} are contexts of longer ones but not in the file: "
             "added with the probability that backing off gives.")
    moved = trie.insert(distinct)
    known = placed.contexts >= 0
    contexts = np.empty_like(placed.contexts)
    contexts[known] = moved[placed.contexts[known]]
    contexts[~known] = trie.find(placed.missing)
    return contexts


def _naming_lines(lines: Lines, parse: Callable[[bytes], Rows]) -> Callable[[tuple[int, bytes]], Rows]:
    """`parse` for blocks that know their first line's number, so that an error can name the line."""
    def parse_numbered(piece: tuple[int, bytes]) -> Rows:
        number, block = piece
        try:
            return parse(block)
        except BadLine as bad:
            lines.fail(number + bad.row, bad.problem)

    return parse_numbered
